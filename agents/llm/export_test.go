package llm

// Parse parses an answer.
var Parse = parse
