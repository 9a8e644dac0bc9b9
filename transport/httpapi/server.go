package httpapi

import (
	"net/http"
	"time"
)

// Time limits for a client's request and for idle connections.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second // for the body, too, until an API sets its own deadlines
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10 // bytes
)

// NewServer returns an HTTP server for an API, or for a handler that contains an API, with limits on the time that a client may hold a
// connection. It reports idle connections to a listener of Connections, unless its ConnState is replaced. An API limits the times of bodies
// and answers itself, so the server has no WriteTimeout, which would cut streams and recordings. Other handlers must read bodies within 30
// seconds, and limit their answers by http.ResponseController.SetWriteDeadline.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true, // which reads a body
		ConnState:                    noteState,
	}
}
