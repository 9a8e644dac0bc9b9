// Package pathway leads conversations along graphs. A pathway defines the agent's words at each node, the edges and their conditions, the
// variables to extract, and the requests to other systems.
//
// Package graph checks a pathway's document and compiles it. An Interpreter follows the graph, turn by turn; a Brain does so for one call.
// Calls, chats and tests share the same Interpreter.Step. A Service stores pathways with numbered versions, publishes versions to
// production and staging, and runs text chats.
package pathway
