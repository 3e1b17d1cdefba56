// Progress, and archives that are dropped. It only ever sets text.
"use strict";

const watch = document.getElementById("watch");
if (watch) {
  const events = new EventSource(watch.dataset.events);
  const [bar, doing] = [document.getElementById("bar"), document.getElementById("doing")];
  events.addEventListener("progress", (event) => {
    const { state, progress } = JSON.parse(event.data);
    if (progress) {
      bar.max = Math.max(progress.of, 1);
      bar.value = progress.step;
      doing.textContent = progress.of ? `step ${progress.step} of ${progress.of}: ${progress.doing}` : progress.doing;
    } else {
      doing.textContent = state === "queued" ? "waits for a worker" : state;
    }
  });
  events.addEventListener("end", () => {
    events.close();
    location.reload();
  });
}

const drop = document.getElementById("drop");
if (drop) {
  const [archive, said] = [document.getElementById("archive"), document.getElementById("upload")];
  const send = async (file) => {
    if (!file) return;
    said.textContent = `sending ${file.name}`;
    try {
      const answer = await fetch(`/api/audits?name=${encodeURIComponent(file.name)}`, {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: file,
      });
      const about = await answer.json();
      if (answer.ok) location.assign(about.page);
      else said.textContent = about.error;
    } catch {
      said.textContent = "it could not be sent";
    }
  };
  archive.addEventListener("change", () => send(archive.files[0]));
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    send(event.dataTransfer.files[0]);
  });
}
