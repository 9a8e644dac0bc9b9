// Package assert decides whether a conversation between an agent and a caller met its expectations.
//
// An Assertion is one expectation: its type and its configuration. Compile checks it before it is stored, and returns a Check, which
// evaluates the Evidence of any number of conversations. A Check is a pure function of the evidence. Only assertions of the types LLMJudge,
// CustomLLM and ServiceTone also ask a Judge. An assertion that exceeds the limits results in an error, never in a failure of the agent.
//
// Decide combines the results of a run into its verdict and its score. Blame returns the node to which a run's failure is attributed.
package assert
