#!/usr/bin/env bash
# Packs a world as a Slurm job array on two simulated nodes of this machine, with the parts and the merged file
# in an object store, loses a node in the middle, and compares the merged file with that of one process. Needs
# root, and Debian's slurm-wlm and munge. Takes about two minutes, and three more to build s3s-fs the first time.
#
#   large-import.sh [OPTIONS OF THE SOURCE]      such as: large-import.sh saves/Home
#   DRYSTONE      the program; if unset, it is built
#   S3S_FS        the object store s3s-fs; if unset, it is built
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

readonly PARTS=6
readonly LOST_NODE=n2
# Longest time for all jobs, in seconds.
readonly PATIENCE=600
# Version of s3s-fs, and the folder where it is built.
readonly S3S_VERSION=0.14.1
readonly S3S_FOLDER=$PWD/target/s3s-fs
readonly S3_PORT=18014
# A name that no other run uses, by which its processes are found.
readonly BUCKET=worlds-$$

fail() {
    echo "large-import: $*" >&2
    exit 1
}

for program in munged slurmctld slurmd sbatch squeue scontrol; do
    command -v "$program" >/dev/null || fail "$program is missing; install slurm-wlm and munge"
done
[ "$(id -u)" -eq 0 ] || fail "only root can start slurmd"

source=("$@")
[ "${#source[@]}" -gt 0 ] || source=(--chunks 64x16x64 --relief 512)
drystone=${DRYSTONE:-$PWD/target/release/drystone}
[ -n "${DRYSTONE:-}" ] || cargo build --locked --release -p drystone || exit 1

store=${S3S_FS:-$S3S_FOLDER/bin/s3s-fs}
[ -x "$store" ] || cargo install s3s-fs --version "$S3S_VERSION" --locked --features binary --root "$S3S_FOLDER" ||
    fail "s3s-fs cannot be built"

work=$(mktemp -d) || exit 1
stop_all() {
    local file
    for file in "$work"/*.pid; do
        [ -e "$file" ] && kill -9 "$(cat "$file")" 2>/dev/null
    done
    pkill -9 -f "$work" 2>/dev/null
    rm -rf "$work"
}
trap stop_all EXIT

# A cluster of this machine alone: ports and files of its own, and nodes that are given up after ten seconds.
host=$(hostname)
export SLURM_CONF=$work/slurm.conf
cat >"$SLURM_CONF" <<CONF
ClusterName=large-import
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=5
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdSpoolDir=$work/spool-%n
SlurmdPidFile=$work/%n.pid
SlurmdLogFile=$work/%n.log
SlurmdTimeout=10
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
JobRequeue=1
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17001 CPUs=1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17002 CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES State=UP
CONF
mkdir "$work/state" "$work/spool-n1" "$work/spool-n2" "$work/jobs" "$work/objects" "$work/objects/$BUCKET"
dd if=/dev/urandom of="$work/munge.key" bs=1024 count=1 status=none
chmod 400 "$work/munge.key"
# The folder of the socket may be readable by all.
chmod 755 "$work"
munged --force --socket="$work/munge.socket" --key-file="$work/munge.key" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munged.seed" || fail "munged does not start"
slurmctld || fail "slurmctld does not start"
for node in n1 n2; do
    slurmd -N "$node" || fail "slurmd of $node does not start"
done

# Jobs inherit these variables, as they would on a real cluster.
export AWS_ENDPOINT=http://127.0.0.1:$S3_PORT AWS_ALLOW_HTTP=true AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=large-import AWS_SECRET_ACCESS_KEY=no-secret
"$store" --host 127.0.0.1 --port "$S3_PORT" --access-key "$AWS_ACCESS_KEY_ID" --secret-key "$AWS_SECRET_ACCESS_KEY" \
    "$work/objects" >"$work/store.log" 2>&1 &
echo $! >"$work/store.pid"
disown
for _ in $(seq 50); do
    (exec 3<>"/dev/tcp/127.0.0.1/$S3_PORT") 2>/dev/null && break
    sleep 0.1
done
kill -0 "$(cat "$work/store.pid")" || fail "the object store does not start: $(cat "$work/store.log")"
parts=()
for part in $(seq "$PARTS"); do
    parts+=("s3://$BUCKET/part-$part.dsw")
done

cat >"$work/pack.sh" <<JOB
#!/bin/bash
export RAYON_NUM_THREADS=1
cd "$work/jobs" || exit 1
exec "$drystone" pack ${source[*]@Q} --part "\$SLURM_ARRAY_TASK_ID/$PARTS" -o "s3://$BUCKET/part-\$SLURM_ARRAY_TASK_ID.dsw"
JOB
log=(--output "$work/job-%A-%a.log")
array=$(sbatch --parsable --requeue "${log[@]}" --array="1-$PARTS" "$work/pack.sh") || exit 1
merge=$(sbatch --parsable --dependency="afterok:$array" --output "$work/merge.log" \
    --wrap "cd '$work/jobs' && '$drystone' merge ${parts[*]} -o s3://$BUCKET/joined.dsw") || exit 1
echo "array $array packs $PARTS parts, job $merge merges them"

# Waits until a part is being packed on the node that will be lost.
deadline=$((SECONDS + PATIENCE))
part=
while [ -z "$part" ] || [ ! -e "$work/jobs/part-$part.dsw."*.upload.part ]; do
    [ $SECONDS -lt $deadline ] || fail "no part is packed on $LOST_NODE: $(squeue)"
    read -r part job < <(squeue --noheader --states=RUNNING --nodelist=$LOST_NODE --format='%K %A')
    sleep 0.1
done
# The node loses its power: its daemon, and all that it runs.
kill -9 "$(cat "$work/$LOST_NODE.pid")"
pkill -9 -f "slurmstepd: \[$job\."
pkill -9 -f -- "--part $part/$PARTS -o s3://$BUCKET"
[ ! -e "$work/objects/$BUCKET/part-$part.dsw" ] || fail "part $part was complete before its node was lost"
echo "lost $LOST_NODE with part $part"

while [ -n "$(squeue --noheader)" ]; do
    [ $SECONDS -lt $deadline ] || fail "the jobs do not end: $(squeue)"
    sleep 1
done
grep -E "$LOST_NODE not responding|[Rr]equeu" "$work/slurmctld.log" | sed 's/^/slurmctld: /'
grep -q "[Rr]equeu" "$work/slurmctld.log" || fail "Slurm has not run part $part again"
cat "$work"/job-*.log "$work/merge.log"

"$drystone" pack "${source[@]}" -o "$work/whole.dsw" || exit 1
joined=$work/objects/$BUCKET/joined.dsw
cmp "$work/whole.dsw" "$joined" || fail "the merged file differs"
[ -z "$(ls "$work/jobs")" ] || fail "the jobs left files: $(ls "$work/jobs")"
echo "large-import: the merged file in the object store equals that of one process, $(stat -c %s "$joined") bytes"
