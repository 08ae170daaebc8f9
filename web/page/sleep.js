// Sleep of the page: a hidden tab, a frozen one, or one that the browser keeps to go back to.

/// Number of times that the page has slept. A measured time that contains a sleep is not valid.
let sleeps = 0;
export const sleepCount = () => sleeps;

/// Returns when the page is visible.
export const visible = () => new Promise((done) => {
  const look = () => {
    if (document.visibilityState === 'hidden') return;
    document.removeEventListener('visibilitychange', look);
    done();
  };
  document.addEventListener('visibilitychange', look);
  look();
});

/// Returns after the page was painted.
export const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

/// Calls `sleep` before the page sleeps, and `wake` afterwards.
export function listenToSleep(sleep, wake) {
  const slept = () => {
    sleeps += 1;
    sleep();
  };
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') slept();
    else wake();
  });
  document.addEventListener('freeze', slept);
  document.addEventListener('resume', wake);
  window.addEventListener('pagehide', slept);
  window.addEventListener('pageshow', ({ persisted }) => { if (persisted) wake(); });
}
