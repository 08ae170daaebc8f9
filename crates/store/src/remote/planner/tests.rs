use super::*;

const NOW: Duration = Duration::ZERO;
const FILE_BYTES: u64 = 1000 * BLOCK_BYTES + 5;

fn planner(blocks: &[u64]) -> Planner {
    let mut planner = Planner::new(FILE_BYTES);
    planner.request(blocks.to_vec());
    planner
}

/// Returns the blocks of all requests that are sent now.
fn sent(planner: &mut Planner, now: Duration) -> Vec<(u64, Range<u64>)> {
    let steps = std::iter::from_fn(|| planner.next(now));
    steps
        .map(|step| match step {
            RemoteStep::Send { id, range } => {
                assert!(range.end <= FILE_BYTES && range.start % BLOCK_BYTES == 0);
                (id, range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES))
            }
            RemoteStep::Cancel(id) => panic!("{id} is cancelled"),
        })
        .collect()
}

/// Returns the first block of each request that is sent now, and the one after its last.
fn ranges(planner: &mut Planner, now: Duration) -> Vec<[u64; 2]> {
    sent(planner, now).into_iter().map(|(_, range)| [range.start, range.end]).collect()
}

fn refused() -> ArrivalFailure {
    ArrivalFailure::passing("refused")
}

#[test]
fn neighbors_become_one_request_of_at_most_256_kib() {
    // A block between wanted ones is received too.
    assert_eq!(ranges(&mut planner(&[7, 5, 10, 30, 8]), NOW), [[5, 11], [30, 31]]);
    assert_eq!(ranges(&mut planner(&[7, 4, 11, 8]), NOW), [[7, 9], [4, 5], [11, 12]]);
    assert_eq!(ranges(&mut planner(&[30, 28, 26, 23]), NOW), [[26, 31], [23, 24]]);
    let all: Vec<u64> = (0..160).collect();
    assert_eq!(ranges(&mut planner(&all), NOW), [[0, 64], [64, 128], [128, 160]]);
    let every_second: Vec<u64> = (0..40).map(|it| 2 * it).collect();
    assert_eq!(ranges(&mut planner(&every_second), NOW), [[0, 63], [64, 79]]);
    // The last block is short.
    assert_eq!(ranges(&mut planner(&[1000]), NOW), [[1000, 1001]]);
}

#[test]
fn the_most_urgent_blocks_are_requested_first_and_eight_at_once() {
    let far: Vec<u64> = (0..12).map(|it| 900 - 50 * it).collect();
    let mut planner = planner(&far);
    planner.set_urgent(0, [33].into_iter());
    let requests = sent(&mut planner, NOW);
    let expected = [33, 900, 850, 800, 750, 700, 650, 600].map(|it| it..it + 1);
    assert!(requests.iter().map(|(_, range)| range.clone()).eq(expected));
    assert_eq!(planner.received(requests[3].0, NOW), Some(800..801));
    assert_eq!(ranges(&mut planner, NOW), [[550, 551]]);
}

#[test]
fn requests_that_are_no_longer_wanted_are_cancelled_and_their_answers_ignored() {
    let mut planner = planner(&[10, 500]);
    let requests = sent(&mut planner, NOW);
    planner.request(vec![500]);
    assert_eq!(planner.next(NOW), Some(RemoteStep::Cancel(requests[0].0)));
    assert_eq!(planner.next(NOW), None);
    assert_eq!(planner.received(requests[0].0, NOW), None);
    planner.failed(requests[0].0, NOW, refused());
    assert_eq!((planner.failure.clone(), planner.running_count()), (None, 1));
    assert_eq!(planner.received(requests[1].0, NOW), Some(500..501));
    assert_eq!(planner.wake_at(), None);
}

#[test]
fn failures_are_repeated_with_growing_delays_until_one_request_succeeds() {
    let mut planner = planner(&[10, 500, 700]);
    let requests = sent(&mut planner, NOW);
    for (id, _) in &requests {
        planner.failed(*id, NOW, refused());
    }
    let mut now = NOW;
    let mut delays = Vec::new();
    for _ in 0..8 {
        assert!(ranges(&mut planner, now).is_empty());
        let at = planner.wake_at().unwrap();
        delays.push((at - now).as_millis());
        now = at;
        let again = sent(&mut planner, now);
        assert_eq!(again.len(), 1, "one attempt at a time");
        planner.failed(again[0].0, now, refused());
    }
    assert_eq!(delays, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    assert_eq!(planner.failure, Some(refused()));
    now = planner.wake_at().unwrap();
    let again = sent(&mut planner, now);
    assert_eq!(planner.received(again[0].0, now), Some(10..11));
    assert_eq!(planner.failure, None);
    assert_eq!(ranges(&mut planner, now), [[500, 501], [700, 701]]);
}

#[test]
fn a_silent_request_is_cancelled_and_sent_again() {
    let mut planner = planner(&[10]);
    let id = sent(&mut planner, NOW)[0].0;
    planner.hear(id, Duration::from_secs(9));
    assert_eq!(planner.wake_at(), Some(Duration::from_secs(19)));
    assert_eq!(planner.next(Duration::from_secs(18)), None);
    let now = Duration::from_secs(19);
    assert_eq!(planner.next(now), Some(RemoteStep::Cancel(id)));
    assert!(planner.failure.as_ref().unwrap().problem.contains("sent nothing for 10 s"));
    assert_eq!(planner.next(now), None);
    assert_eq!(ranges(&mut planner, now + FIRST_DELAY), [[10, 11]]);
}

/// A camera that moves cancels each request before its time.
#[test]
fn a_silent_server_is_noticed_although_requests_are_cancelled() {
    let mut planner = planner(&[0]);
    for second in 0..10 {
        let now = Duration::from_secs(second);
        planner.request(vec![40 * second]);
        while let Some(step) = planner.next(now) {
            assert!(planner.failure.is_none(), "{second} s: {step:?}");
        }
    }
    assert!(matches!(planner.next(SILENCE), Some(RemoteStep::Cancel(_))));
    assert!(planner.failure.is_some());
}

/// One reader that ends takes no block from another one.
#[test]
fn readers_of_the_same_block_do_not_cancel_each_other() {
    let mut planner = planner(&[]);
    planner.set_urgent(1, [3, 4].into_iter());
    planner.set_urgent(2, [4, 90].into_iter());
    planner.set_urgent(1, [].into_iter());
    assert_eq!(ranges(&mut planner, NOW), [[4, 5], [90, 91]]);
    planner.set_urgent(2, [].into_iter());
    assert_eq!(planner.next(NOW), None, "what is on the way comes");
}

#[test]
fn nothing_is_requested_after_a_final_failure() {
    let mut planner = planner(&[10, 500]);
    let requests = sent(&mut planner, NOW);
    planner.failed(requests[0].0, NOW, ArrivalFailure::lasting("replaced"));
    planner.failed(requests[1].0, NOW, refused());
    planner.request(vec![3]);
    assert_eq!(planner.next(Duration::from_secs(99)), None);
    assert_eq!(planner.wake_at(), None);
    assert_eq!(planner.failure, Some(ArrivalFailure::lasting("replaced")));
}
