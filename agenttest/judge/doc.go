// Package judge implements assert.Judge: a language model decides about a conversation by criteria that no rule can decide.
//
// # What the model reads
//
// A question has one criterion. The rules of the question, which the model follows, are the client's criterion and those of this
// package, never words of the conversation. The conversation is data: the numbered messages, and the reason for its end, the
// variables at the end, the visited nodes and the sent requests, without their headers. llm.Question.Prompt writes all of it into
// one block, so that no words can become a rule. The model never reads the persona of the caller or the name of the scenario. The
// own instructions of a CustomLLM assertion come first, and the same rules after them, which win.
//
// The data are never truncated. For a conversation with more than Config.MaxBytes of data the opinion is assert.CannotJudge.
//
// # What the model writes
//
// One JSON object: evidence, reasoning, the decision, and a failure code. Only the field of the decision decides. An incomplete or
// contradictory answer is requested again, up to llm.Attempts answers in all; then the vote is a failure of llm.ClassInvalid.
// Quotes must occur in their turn, apart from white space and zero-width characters. If one does not, the model may correct its
// answer once; then the answer counts, and the quote is not verified.
//
// # Votes
//
// Answers of models vary, even at temperature 0, which all questions use. A judge asks once, and only after a vote that does not
// pass it takes the others, concurrently. This corrects false failures but not false passes, so checks that need reliable passes,
// such as promotions, use symmetric votes. If a vote is wrong with a probability of 0.1, three symmetric votes are wrong with
// 0.028.
//
// More than half of the votes decide, or it is assert.CannotJudge; of labels the most frequent one decides, unless two are equally
// frequent. The score is the median. A failure of one vote is a failure of all. Votes differ in llm.Question.Attempt, so that
// neither a cassette nor a journal answers one with another. They have no seed, because llm.Question has none.
package judge
