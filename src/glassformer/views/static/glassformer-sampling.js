// Recomputes distributions while their settings change, in the order of `token_probabilities`:
// temperature, top-k, top-p, min-p. Without this file, the picture shows a few settings.
const COUNTS = [1, 2, 3, 5, 10, 20, 50, 100, Infinity]; // top-k

// Groups are [logit, tokens] from the best down, with logits relative to the best one.
function filtered(groups, { temperature, k, p, minP }) {
  const weights = groups.map(([logit]) => Math.exp(logit / temperature));
  const total = (kept) => kept.reduce((sum, tokens, i) => sum + tokens * weights[i], 0);
  const all = groups.map(([, tokens]) => tokens);
  let kept = all;
  if (k < Infinity) {
    let ranked = 0;
    const last = groups.find(([, tokens]) => (ranked += tokens) >= k) ?? groups.at(-1);
    kept = kept.map((tokens, i) => (groups[i][0] < last[0] ? 0 : tokens)); // ties stay
  }
  if (p < 1) {
    const whole = total(kept);
    let before = 0; // what the better tokens have together
    kept = kept.map((tokens, i) => {
      const each = weights[i] / whole;
      const fit = before < p ? Math.min(tokens, Math.ceil((p - before) / each)) : 0;
      before += tokens * each;
      return fit;
    });
  }
  kept = kept.map((tokens, i) => (weights[i] < minP ? 0 : tokens)); // the best has a weight of 1
  const rest = total(kept);
  return {
    chances: kept.map((tokens, i) => (tokens * weights[i]) / rest),
    stay: kept.reduce((sum, tokens) => sum + tokens, 0),
    had: rest / total(all),
    of: all.reduce((sum, tokens) => sum + tokens, 0),
    alone: all.filter((tokens) => tokens === 1).length,
  };
}

const written = (value) =>
  value >= 0.0005 ? value.toFixed(3) : value > 0 ? "< 0.001" : "0";

function count(stay, of, alone) {
  if (stay === of) return `All ${of.toLocaleString("en")} tokens stay.`;
  const about = stay > alone ? "About " : "";
  const shown = about ? Number(stay.toPrecision(2)) : stay;
  const verb = stay === 1 ? "token stays" : "tokens stay";
  return `${about}${shown.toLocaleString("en")} of ${of.toLocaleString("en")} ${verb}.`;
}

function start(figure) {
  const form = figure.querySelector("form");
  const inputs = [...form.querySelectorAll("input")];
  const outputs = inputs.map((input) => input.parentElement.appendChild(document.createElement("output")));
  const below = form.appendChild(document.createElement("p"));
  const reset = below.appendChild(document.createElement("button"));
  reset.type = "reset";
  reset.textContent = "Reset";
  below.append(" Outlines: as the model says");
  const panels = [...figure.querySelectorAll("[data-logits]")].map((panel) => [
    panel,
    JSON.parse(panel.dataset.logits),
    [...panel.querySelectorAll("[data-row]")],
  ]);

  const show = () => {
    const [temperature, place, p, minP] = inputs.map((input) => Number(input.value));
    const k = COUNTS[place];
    const shown = [
      temperature.toFixed(2),
      k < Infinity ? String(k) : "off",
      p < 1 ? p.toFixed(2) : "off",
      minP > 0 ? minP.toFixed(2) : "off",
    ];
    inputs.forEach((input, i) => {
      outputs[i].textContent = shown[i];
      input.setAttribute("aria-valuetext", shown[i]);
    });
    for (const [panel, groups, rows] of panels) {
      const { chances, stay, had, of, alone } = filtered(groups, { temperature, k, p, minP });
      rows.forEach((row, i) => {
        const others = i === 8;
        const value = others ? chances.slice(8).reduce((a, b) => a + b, 0) : chances[i];
        row.querySelector(".bar").setAttribute("width", value * row.dataset.across);
        row.querySelector("text").textContent = written(value);
      });
      const before = stay < of ? ` Before the filters, they had ${written(had)}.` : "";
      panel.querySelector("p").textContent = count(stay, of, alone) + before;
    }
  };
  form.addEventListener("input", show);
  form.addEventListener("reset", () => setTimeout(show));
  form.addEventListener("submit", (event) => event.preventDefault());
  figure.classList.add("live");
  show();
}

document.querySelectorAll("figure.glassformer-sampling").forEach(start);
