// Before the search looks for a query, leave out what says nothing about where to look: the values
// in a message, and small words. Each word is looked for as the beginning of one, so that "to"
// would find all "tokens".

const SMALL = new Set(
  ("a an and are as at be but by does for from got has have if in is it its may must no not of on " +
    "or so than that the their there these they this to was were what which who will with").split(" "),
);
const QUERY = 2; // what Material calls this kind of message to its worker

const telling = (query) => {
  const words = query.replace(/[([][\d.,\s]*[)\]]|^\w*Error:/g, " ").split(/\s+/);
  const left = words.filter((word) => !SMALL.has(word.toLowerCase()) && !/^\d{1,3}$/.test(word));
  return left.some(Boolean) ? left.join(" ") : query;
};

const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (message, ...rest) {
  const isQuery = message?.type === QUERY && typeof message.data === "string";
  return postMessage.call(this, isQuery ? { ...message, data: telling(message.data) } : message, ...rest);
};
