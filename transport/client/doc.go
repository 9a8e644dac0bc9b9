// Package client calls the HTTP API of a Callwright server. Client has methods for speech, voices and samples, the generated clients for
// the other areas, and Do for any request.
//
// All of them send requests in the same way: the client adds the key, retries requests that can safely be repeated, limits the size of
// answers, and converts every failed answer to an *Error with the status and the body. The default limits are 16 MiB for a JSON answer, 64
// MiB for audio, and 64 KiB for the body of an *Error. By default, the client gives up on a server that is silent for 2 minutes, tries a
// request at most 4 times, and waits at most 30 seconds in total between the tries.
//
// The client sends the key only to the server of Config.BaseURL. If this server redirects a request, the client returns an error. Audio,
// which may be on another server, is downloaded without the key.
package client
