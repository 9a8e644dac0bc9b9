// Package casefile joins calls and pathways to issues: it tells what issues show of them and what analysts may read, and
// it makes issues of calls that have failed.
//
// What analysts read holds nothing that is meant for another system or for the organization's own programs: addresses,
// headers and bodies of requests, tools, the data that came with a call and the values of its variables, and its
// metadata. Any of these may hold keys. The texts that lead a conversation, and what was said in it, are told as they are.
package casefile
