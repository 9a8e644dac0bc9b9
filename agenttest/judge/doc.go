// Package judge implements assert.Judge with a language model, which judges conversations by criteria that rules cannot decide.
//
// # What the model reads
//
// A question contains one criterion. The model's instructions consist of the client's criterion and the rules of this package, never of
// words from the conversation. The conversation is data: the numbered messages, the reason for its end, the variables at the end, the
// visited nodes and the sent requests without their headers. llm.Question.Prompt writes all data in one block, so that no words can become
// an instruction. The model never reads the persona of the caller or the name of the scenario. The client's own instructions of a CustomLLM
// assertion come first. The same rules follow them and take precedence.
//
// The data are never truncated. If a conversation has more than Config.MaxBytes of data, the opinion is assert.CannotJudge.
//
// # What the model writes
//
// The model writes one JSON object: evidence, reasoning, the decision, and a failure code. Only the decision's field determines the vote.
// If an answer is incomplete or contradictory, the judge asks again, up to llm.Attempts times in all. Then the vote is an error of
// llm.ClassInvalid. Quotes must occur in their turn, apart from white space and zero-width characters. If a quote does not, the model may
// correct its answer once. After that the answer counts, and the quote is not verified.
//
// # Votes
//
// Answers of models vary, even at temperature 0, which all questions use. A judge requests one vote. It requests the others, concurrently,
// only if this vote does not pass. This corrects false failures but not false passes, so checks that need reliable passes, such as
// promotions, use symmetric votes. If a vote is wrong with a probability of 0.1, the majority of three symmetric votes is wrong with a
// probability of 0.028.
//
// More than half of the votes must agree, else the opinion is assert.CannotJudge. Among labels, the most frequent one decides, unless two
// are equally frequent. The score is the median. If one vote is an error, Judge returns the error. Votes differ in llm.Question.Attempt, so
// that neither a cassette nor a journal answers one vote with another. They have no seed, because llm.Question has none.
package judge
