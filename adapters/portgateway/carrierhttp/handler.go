package carrierhttp

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"

	"github.com/callwright/callwright/porting/portingtest"
)

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 1 << 20

// Handler returns a handler that serves a carrier's API with the faults of the carrier's script. api implements the API by calling methods
// of c. Serve the handler only on the loopback interface, for example with httptest.NewServer.
func Handler(c *portingtest.Carrier, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)) // the server notices a disconnected client only after the body is read
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		reply := httptest.NewRecorder()
		answer(w, r, reply, c.Serve(func() { api.ServeHTTP(reply, r) }))
	})
}

// answer sends the recorded reply, or the fault in place of it.
func answer(w http.ResponseWriter, r *http.Request, reply *httptest.ResponseRecorder, fault portingtest.Fault) {
	switch fault {
	case portingtest.Unavailable:
		http.Error(w, "<html>the service is unavailable</html>", http.StatusServiceUnavailable)
	case portingtest.Limited:
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case portingtest.Unauthorized:
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	case portingtest.FailsLate:
		http.Error(w, "internal error", http.StatusInternalServerError)
	case portingtest.Garbled:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>please sign in to the proxy</html>")
	case portingtest.Hangs, portingtest.HangsLate:
		<-r.Context().Done()
	case portingtest.LosesReply:
		panic(http.ErrAbortHandler)
	case portingtest.CutsReply:
		body := reply.Body.Bytes()
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
		w.WriteHeader(reply.Code)
		_, _ = w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	case portingtest.NoFault:
		maps.Copy(w.Header(), reply.Header())
		w.WriteHeader(reply.Code)
		_, _ = w.Write(reply.Body.Bytes())
	}
}
