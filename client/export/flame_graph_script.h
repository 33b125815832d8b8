// SPDX-License-Identifier: BSD-2-Clause
//
// The script within a flame graph, which zooms and searches where the picture is opened by itself: a click on a box
// makes it as wide as the picture, a click on the lowest box or Escape shows all again, "Search" or Ctrl+F colours the
// boxes whose names contain a text. Names are only ever text to it.
#pragma once

#include <string_view>

namespace tracectl {

// For an svg element with the attributes data-left and data-width, where boxes lie, and g elements with a title, a rect
// and perhaps a text. The elements #search and #matched are texts.
inline constexpr std::string_view kFlameGraphScript = R"(<script><![CDATA[
"use strict";
const svg = document.documentElement;
const [left, whole] = [Number(svg.dataset.left), Number(svg.dataset.width)];
const letter = 6.6, right = left + whole;
const boxes = [...svg.querySelectorAll("g")].map(group => {
  const rect = group.querySelector("rect"), at = name => Number(rect.getAttribute(name));
  const name = group.querySelector("title").textContent.replace(/ \([^()]*\)$/, "");
  return {group, rect, name, x: at("x"), width: at("width"), y: at("y")};
});

function labelOf(box, width) {
  const letters = Math.floor((width - 4) / letter);
  if (box.name.length <= letters) return box.name;
  return letters < 4 ? "" : box.name.slice(0, letters - 2) + "..";
}

function place(box, x, width) {
  box.group.style.display = width < 0.1 ? "none" : "";
  box.rect.setAttribute("x", x.toFixed(2));
  box.rect.setAttribute("width", width.toFixed(2));
  let text = box.group.querySelector("text");
  if (!text) {
    text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.setAttribute("y", box.y + 12);
    box.group.append(text);
  }
  text.setAttribute("x", (x + 3).toFixed(2));
  text.textContent = labelOf(box, width);
}

// Boxes below the chosen one are around it, as calls are.
function zoom(chosen) {
  const scale = whole / chosen.width, to = x => left + (x - chosen.x) * scale;
  for (const box of boxes) {
    const first = Math.max(left, to(box.x)), last = Math.min(right, to(box.x + box.width));
    place(box, first, Math.max(0, last - first));
    box.group.style.opacity = box.y > chosen.y ? 0.6 : "";
  }
}

// The share of all that is in boxes with the text, of which those within others do not count twice.
function search(text) {
  const found = boxes.filter(box => text && box.name.includes(text));
  for (const box of boxes) box.rect.style.fill = found.includes(box) ? "#d046e0" : "";
  let share = 0, end = -1;
  for (const box of found.sort((a, b) => a.x - b.x || b.width - a.width)) {
    if (box.x + box.width / 2 < end) continue;  // its edges are rounded
    share += box.width / whole;
    end = box.x + box.width;
  }
  document.getElementById("matched").textContent = text ? `${(100 * share).toFixed(1)} % in "${text}"` : "";
}

function ask() {
  const text = prompt("Colour the boxes whose names contain");
  if (text !== null) search(text);
}

for (const box of boxes) box.group.addEventListener("click", () => zoom(box));
document.getElementById("search").addEventListener("click", ask);
addEventListener("keydown", event => {
  if (event.key === "Escape") { zoom(boxes[0]); search(""); }
  if (event.key !== "f" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  ask();
});
svg.dataset.ready = 1;
]]></script>
)";

}  // namespace tracectl
