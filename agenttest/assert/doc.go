// Package assert decides whether a conversation between an agent and a caller went as expected.
//
// An Assertion is one expectation: its type and its configuration. Compile checks it on saving and returns a Check, which evaluates
// the Evidence of any number of conversations. A Check is a pure function of the evidence. Only assertions of the types LLMJudge,
// CustomLLM and ServiceTone also ask a Judge. An assertion beyond the limits is an error, never a failure of the agent.
//
// Decide combines the results of a run to its verdict and its score. Blame returns the node to which a run's failure is attributed.
package assert
