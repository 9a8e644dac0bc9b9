package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/callwright/callwright"
)

// Time limits for the body of a request.
const (
	bodyIdle  = 30 * time.Second // until the next part of it comes
	bodyTime  = time.Minute      // for all of it, and a second more for each bodyRate bytes that have come
	bodyRate  = 2 << 10
	bodyAfter = time.Second // for the unread rest, once the answer has begun
)

// timedBody is a body with time limits. A body that progresses is not cut off: its total time grows with the bytes that have
// come.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	begin   time.Time
	size    int64 // bytes received
	ended   bool
}

func newTimedBody(w http.ResponseWriter, r *http.Request) *timedBody {
	b := &timedBody{ReadCloser: r.Body, control: http.NewResponseController(w), begin: time.Now()}
	b.mustCome(b.begin.Add(bodyIdle)) // also if nothing reads it but net/http, which does so before the answer
	return b
}

// mustCome sets the time by which more of the body must have come. A writer without deadlines has none.
func (b *timedBody) mustCome(until time.Time) { _ = b.control.SetReadDeadline(until) }

// Read waits for a part of the body. The deadline ends with the body: net/http removes it, and reads on to see whether the
// client goes.
func (b *timedBody) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	idle, all := time.Now().Add(bodyIdle), b.begin.Add(bodyTime+time.Duration(b.size/bodyRate)*time.Second)
	if all.Before(idle) {
		idle = all
	}
	b.mustCome(idle)
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	b.ended = errors.Is(err, io.EOF)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, callwright.Invalid("", "the body did not come in time: at most %s may pass without a part of it, and all of it must come at %d KiB a second, after a first minute",
			bodyIdle, bodyRate>>10)
	}
	return n, err
}

// leave sets a last deadline for the unread rest. net/http reads it before it sends the answer, so that the
// connection can be reused, and else closes the connection after the answer.
func (b *timedBody) leave() {
	if !b.ended {
		b.mustCome(time.Now().Add(bodyAfter))
	}
}
