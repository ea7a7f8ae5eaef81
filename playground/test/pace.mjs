// How fast the page is, in milliseconds: `node playground/test/pace.mjs` after `make playground`, on a machine that does nothing else.

import { settled, start } from "./browser.mjs";

const loads = 15;
const keys = 60;

const browser = await start();
const ready = [];
const answered = [];
for (let load = 0; load < loads; load++) {
  const page = await browser.page(); // nothing is cached
  await settled(page);
  ready.push(await page.evaluate(() => performance.now()));
  if (load % 5 === 0) answered.push(...(await write(page)));
  await page.context().close();
}
await browser.stop();
report("from opening the page to the first answer", ready);
report("from a key to its answer", answered);

// write adds a comment to the Job, letter by letter, and returns how long each answer took.
async function write(page) {
  await page.click(".cm-line");
  await page.keyboard.press("End");
  await settled(page);
  await page.evaluate(() => {
    const status = document.getElementById("status");
    globalThis.times = [];
    let pressed;
    document.addEventListener("keydown", () => (pressed = performance.now()), true);
    new MutationObserver(() => {
      if (!pressed || !status.textContent.startsWith("Exit code")) return;
      times.push(performance.now() - pressed);
      pressed = 0;
    }).observe(status, { childList: true });
  });
  for (let key = 0; key < keys; key++) {
    await page.keyboard.press("x");
    await page.waitForTimeout(150);
  }
  return page.evaluate(() => times);
}

function report(what, times) {
  times.sort((a, b) => a - b);
  const [median, nearly, most] = [0.5, 0.95, 1].map((part) => Math.round(times[Math.ceil(times.length * part) - 1]));
  console.log(`${what}: median ${median}, 95 % within ${nearly}, at most ${most}, of ${times.length}`);
}
