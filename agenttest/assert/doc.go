// Package assert decides whether a conversation between an agent and a caller went as expected.
//
// An Assertion is one expectation: its type and its configuration. Compile checks it when it is saved and returns a Check,
// which evaluates the Evidence of any number of conversations. A Check is a pure function of the evidence. Only assertions
// of the types LLMJudge, CustomLLM and ServiceTone also ask a Judge. An assertion that would have to look at more than the
// limits allow is an error, never a failure of the agent.
//
// Decide combines the results of a run to its verdict and its score. Blame names the node that a failed run is blamed on.
package assert
