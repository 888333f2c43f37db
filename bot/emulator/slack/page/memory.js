// What a person folded open or shut, kept while a message streams or a modal is drawn anew.

const open = new Map();

// A <details> that starts as `byDefault` and stays as the person left it.
export function remembered(details, key, byDefault) {
  details.open = open.has(key) ? open.get(key) : byDefault;
  details.querySelector("summary").addEventListener("click", () => open.set(key, !details.open));
  return details;
}
