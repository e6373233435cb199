"use strict";
// Shows times in the viewer's time zone and refreshes one part of the page every few seconds. The page is complete without it.
(() => {
  const forms = {
    second: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
    minute: { hour: "2-digit", minute: "2-digit" },
    day: { day: "numeric", month: "short" },
  };
  const whole = { dateStyle: "medium", timeStyle: "short" };

  function local(root) {
    for (const element of root.querySelectorAll("time[datetime]")) {
      const time = new Date(element.dateTime);
      if (element.dateTime && !Number.isNaN(time.valueOf())) {
        element.textContent = time.toLocaleString(undefined, forms[element.dataset.kind] || whole);
      }
    }
  }

  function openDetails(root) {
    return [...root.querySelectorAll("details")].map((element) => element.open);
  }

  const live = document.getElementById("live");
  const box = document.getElementById("refresh");
  const message = document.getElementById("message");
  local(document);
  if (!live || !box || !live.dataset.refresh) return;
  document.querySelector(".refresh").hidden = false;
  let failures = 0;

  function busy() {
    return document.hidden || !box.checked || live.contains(document.activeElement) || String(window.getSelection()).length > 0;
  }

  async function look() {
    if (!busy()) {
      const address = new URL(window.location.href);
      address.searchParams.set("fragment", "1");
      try {
        const answer = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" } });
        if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
        const text = await answer.text();
        if (!busy()) {
          const open = openDetails(live);
          const scrolled = [...live.querySelectorAll(".wide")].map((element) => element.scrollLeft);
          live.innerHTML = text; // the server has escaped it, as it did the page
          live.querySelectorAll("details").forEach((element, k) => { element.open = Boolean(open[k]); });
          live.querySelectorAll(".wide").forEach((element, k) => { element.scrollLeft = scrolled[k] || 0; });
          local(live);
        }
        if (failures) message.textContent = "";
        failures = 0;
      } catch (error) {
        failures += 1;
        message.textContent = "The service does not answer. These figures may be out of date.";
      }
    }
    window.setTimeout(look, 1000 * Number(live.dataset.refresh) * Math.min(1 + failures, 12));
  }
  window.setTimeout(look, 1000 * Number(live.dataset.refresh));
})();
