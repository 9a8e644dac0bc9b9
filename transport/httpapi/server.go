package httpapi

import (
	"net/http"
	"time"
)

// Limits for a client's request and for idle connections.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second // also for the body, until an API sets its own deadlines
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10 // bytes
)

// NewServer returns an HTTP server for an API, or for a handler that contains an API. The server limits how long a client may hold a
// connection. It reports idle connections to a listener of Connections, unless its ConnState is replaced.
//
// An API limits the times of bodies and answers itself. The server therefore has no WriteTimeout, which would cut off streams and
// recordings. Other handlers must read bodies within 30 seconds, and limit their answers with http.ResponseController.SetWriteDeadline.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true, // the general OPTIONS handler reads a body
		ConnState:                    noteState,
	}
}
