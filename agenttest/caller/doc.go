// Package caller simulates callers of an agent in a test. A caller is a model that plays a persona, the lines of a script, or the caller's
// lines of a recorded call.
//
// # When a simulated caller is at fault
//
// A model that plays a caller may depart from its role, and the agent then fails because of unrealistic words. So every line of a Model is
// checked, and an invalid line is requested once more. A second invalid line makes the run an error, not a failure of the agent. Lines of
// scripts and recorded calls are not checked, because clients have written them. A line is invalid in these cases:
//
//   - It is empty, and the caller does not hang up.
//   - It has more than MaxLine bytes.
//   - It says a line of four or more words for the third time.
//   - It is an echo: the agent has said the same six or more words consecutively.
//   - It speaks as the agent or as a model ("How can I help you?", "As an AI ..."). Only English phrases are recognized. Scenarios of
//     voicemail and of call screeners are exempt, because their callers are machines.
//   - It reveals its instructions: it contains eight consecutive words of this package's rules, or sixteen of the persona's description or
//     instructions. Quotations in these are words for the caller to say, and do not count.
//
// InPersona asks a model about the whole conversation, in any language.
package caller
