// Package client calls the HTTP API of a Callwright server. Client has methods for speech, voices and samples, the generated
// clients of the other areas, and Do for any request.
//
// One path serves all of them. It adds the key, repeats what may be repeated, bounds what is read, and turns every failed
// answer into an *Error with the status and the body. Bounds, unless Config says otherwise: JSON answers hold at most 16 MiB,
// audio 64 MiB, the body of an *Error 64 KiB; a server that stays silent for 2 minutes is given up; a request is tried at
// most 4 times and waits for at most 30 seconds between its tries.
//
// The key goes to the server of Config.BaseURL and to no other: answers that redirect are errors, and audio, whose address
// may lie elsewhere, is downloaded without it.
package client
