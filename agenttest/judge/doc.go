// Package judge decides by a language model what no rule can decide about a conversation: it is an assert.Judge.
//
// # What the model reads
//
// A question has one criterion. The rules of the question, which the model follows, are the client's criterion and those of
// this package, never words of the conversation. The conversation is data: the numbered messages, and beside them why it
// ended, the variables at the end, the nodes visited and the requests sent, without their headers. llm.Question.Prompt
// writes all of it into one block, so that whatever was said cannot become a rule. The model never reads the persona of the
// caller or the name of the scenario. The own instructions of a CustomLLM assertion come first, and the same rules after
// them, which win.
//
// Nothing is cut off. Of a conversation with more than Config.MaxBytes of data the opinion is assert.CannotJudge.
//
// # What the model writes
//
// One JSON object: evidence, reasoning, the decision, and a failure code. Only the field of the decision decides. An answer
// that lacks something or contradicts itself is asked for again, llm.Attempts answers in all; after that the vote is a failure
// of llm.ClassInvalid. Quotes must stand in the turn that they name, where white space and characters without width do not
// count. If one does not, the model may correct its answer once; then the answer counts, and the quote is not verified.
//
// # Votes
//
// Models answer differently from time to time, also at the temperature 0, which all questions have. A judge asks once, and
// only after a vote that does not pass it takes the others, all at once. That repairs false failures but no false passes, so
// what a pass must prove, such as a promotion, asks for symmetric votes. With a chance of 0.1 that a vote is wrong, three
// symmetric votes are wrong in 0.028 of all cases.
//
// More than half of the votes decide, or it is assert.CannotJudge; of labels the most frequent one decides, unless two are.
// The score is the median. A failure of one vote is a failure of all. Votes are told apart by llm.Question.Attempt, so that
// neither a cassette nor a journal answers one with another. There is no seed: llm.Question has none.
package judge
