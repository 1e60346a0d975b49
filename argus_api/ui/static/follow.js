// Follows a task while its page is open: says how long the run goes on, and shows its end. The page works without.
"use strict";
const line = document.getElementById("progress");
if (line && window.EventSource) {
  let running = null;
  const stream = new EventSource(line.dataset.events);
  stream.addEventListener("run", (event) => {
    const run = JSON.parse(event.data);
    if (run && run.outcome === null) {
      running = run.id;
      line.hidden = false;
      line.textContent = `Run ${run.id} has been going on for ${run.seconds} s.`;
    } else if (run && (running === run.id || (running === null && run.id > Number(line.dataset.run)))) {
      stream.close();
      location.reload();
    }
  });
  addEventListener("pagehide", () => stream.close());
}
