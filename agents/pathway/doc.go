// Package pathway leads conversations along graphs. A pathway says what the agent says at each node, when the conversation
// goes on and where to, what is extracted on the way, and which other systems are queried.
//
// Package graph checks a pathway's document and compiles it. An Interpreter walks the graph, turn by turn; a Brain does so for
// one call. Calls, chats and tests share the same Interpreter.Step. A Service stores pathways with numbered versions,
// publishes versions to production and staging, and runs text chats.
package pathway
