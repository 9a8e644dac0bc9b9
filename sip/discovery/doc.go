// Package discovery detects the SIP server at a host: it resolves the name, probes the usual SIP ports with OPTIONS, and recommends how to
// connect. [Service.Start] starts a discovery in the background, and [Service.Get] returns its progress.
package discovery
