// Package caller simulates callers of an agent in a test: a model that plays a persona, the lines of a script, or the caller of a
// real call.
//
// # When a simulated caller is at fault
//
// A model that plays a caller may leave its part, and the agent then fails for unrealistic words. So every line of a Model is
// checked, and requested again once; a second invalid line makes the run an error, not a failure of the agent. Lines of scripts and
// of real calls are not checked, because clients have written them.
//
//   - It is empty, and the caller does not hang up.
//   - It has more than MaxLine bytes.
//   - It says for the third time what it said before, in the same words, of which there are four or more.
//   - It is an echo: six or more words that stand just so in something that the agent has said.
//   - It speaks as the agent or as a model ("How can I help you?", "As an AI ..."). These phrases are English ones. Scenarios
//     of voicemail and of call screeners are exempt, because their callers are machines.
//   - It tells its instructions: eight words in a row of the rules of this package, or sixteen of the persona's description
//     or instructions. What those quote is for the caller to say, and does not count.
//
// InPersona asks a model about the whole conversation, in any language.
package caller
