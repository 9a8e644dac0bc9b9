package llm

// Parse exports parse, which parses an answer.
var Parse = parse
