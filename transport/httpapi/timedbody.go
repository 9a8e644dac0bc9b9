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
	bodyIdle  = 30 * time.Second // maximum wait for the next part
	bodyTime  = time.Minute      // maximum in total, plus a second for each bodyRate bytes received
	bodyRate  = 2 << 10
	bodyAfter = time.Second // for the unread rest, after the answer has begun
)

// timedBody is a body with time limits. The total limit grows with the received bytes, so that a large body that arrives fast enough is not
// cut off.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	begin   time.Time
	size    int64 // bytes received
	ended   bool
}

func newTimedBody(w http.ResponseWriter, r *http.Request) *timedBody {
	b := &timedBody{ReadCloser: r.Body, control: http.NewResponseController(w), begin: time.Now()}
	b.mustCome(b.begin.Add(bodyIdle)) // also applies if no handler reads the body, because net/http then reads it before the answer
	return b
}

// mustCome sets the deadline of the next Read. It has no effect if the connection has no deadlines.
func (b *timedBody) mustCome(until time.Time) { _ = b.control.SetReadDeadline(until) }

// Read waits for the next part of the body, within the limits. At the end of the body, net/http removes the deadline and reads on to detect
// a disconnect.
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
		return n, callwright.Invalid("", "the body did not come in time: send a part of it at least every %s, and all of it within %s plus a second for each %d KiB",
			bodyIdle, bodyTime, bodyRate>>10)
	}
	return n, err
}

// leave sets a deadline for the unread rest of the body. net/http reads the rest before it sends the answer, so that the connection can be
// reused. If the rest does not arrive in time, net/http closes the connection after the answer.
func (b *timedBody) leave() {
	if !b.ended {
		b.mustCome(time.Now().Add(bodyAfter))
	}
}
