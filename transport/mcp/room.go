package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// The bounds of the memory of all requests of a handler, and the part of one user, which is an address or, behind a proxy on this
// machine, a key.
const (
	smallBody  = 16 << 10 // up to this, a body needs no room in memory of its own
	maxBodies  = 4096     // that are being read
	bodyMemory = 32 << 20 // bytes, of bodies that are not small, until they are answered
	audioSpace = 32 << 20 // bytes of audio in results; making a result takes about eight times its audio
	userShare  = 4        // a user may hold a quarter of each of these, and half of MaxRequests
	roomWait   = 5 * time.Second
)

// rooms bounds the memory of the requests of a handler.
type rooms struct {
	bodies, memory, requests, audio *node.Budget
}

func newRooms(requests int) *rooms {
	return &rooms{
		bodies:   &node.Budget{Total: maxBodies, Share: maxBodies / userShare, Busy: "too many bodies of requests are being read: try again"},
		memory:   &node.Budget{Total: bodyMemory, Share: bodyMemory / userShare, Wait: roomWait, Busy: "too many large bodies of requests are held: try again"},
		requests: &node.Budget{Total: int64(requests), Share: int64(requests+1) / 2, Busy: "too many requests are under way: try again"},
		audio:    &node.Budget{Total: audioSpace, Share: audioSpace / userShare, Wait: roomWait, Busy: "too much audio is in results"},
	}
}

// userOf returns the user that a request's memory is charged to before its key is checked.
func userOf(r *http.Request) string {
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	if source := callwright.Source(remote.Addr()); source.IsValid() && !source.IsLoopback() {
		return source.String()
	}
	return keyUser(keyOf(r.Header.Get("Authorization")))
}

// keyUser names the holder of a key. It keeps nothing of the key.
func keyUser(key callwright.Secret) string {
	sum := sha256.Sum256([]byte(key))
	return string(sum[:])
}

// receive reads the body of a request, which must come within bodyLimit. A body that is not small waits for memory, which the
// caller returns.
func (m *rooms) receive(w http.ResponseWriter, r *http.Request, user string) (body []byte, release func(), err error) {
	leave, err := m.bodies.Claim(r.Context(), user, 1)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyLimit)) // a writer without deadlines has none
	source := http.MaxBytesReader(w, r.Body, maxLine)
	release = func() {}
	body, err = io.ReadAll(io.LimitReader(source, smallBody+1))
	if err != nil || len(body) <= smallBody {
		return body, release, err
	}
	size := int64(maxLine)
	if r.ContentLength >= 0 {
		size = min(size, r.ContentLength)
	}
	if release, err = m.memory.Claim(r.Context(), user, size); err != nil {
		return nil, nil, err
	}
	text := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, _ = text.Write(body)
	if _, err = text.ReadFrom(source); err != nil {
		release()
	}
	return text.Bytes(), release, err
}

// refuseBody answers a request whose body has not been received.
func refuseBody(w http.ResponseWriter, err error) {
	_, large := errors.AsType[*http.MaxBytesError](err)
	busy, full := errors.AsType[*callwright.Error](err)
	switch {
	case large:
		refuse(w, http.StatusRequestEntityTooLarge, callwright.CodePayloadTooLarge, "the body of a request holds at most 256 KiB")
	case full:
		refuseBusy(w, busy.Message)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusRequestTimeout, callwright.CodeBadRequest, "the body of a request must come within "+bodyLimit.String())
	default:
		refuse(w, http.StatusBadRequest, callwright.CodeBadRequest, "the body of the request did not come whole: send it again")
	}
}

func refuseBusy(w http.ResponseWriter, message string) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, callwright.CodeUnavailable, message)
}

// isBatch reports whether a body is a list of messages.
func isBatch(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '['
}

const noBatches = "a request holds one message: batches are not supported, which the protocol has not had since version 2025-06-18"

// refuseBatch answers a list of messages, in the form of the protocol's errors.
func refuseBatch(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"`+noBatches+`"}}`) // the client has gone if this fails
}

// audioRoom is the room for audio of one request, which has at most one call. It is held until the result is written.
type audioRoom struct {
	budget  *node.Budget
	user    string
	release func()
}

type audioRoomKey struct{}

func (a *audioRoom) free() {
	if a.release != nil {
		a.release()
	}
}

// claimAudio takes room for audio in the result of a call, if it came with a request that has to. It waits only for audio that was
// asked for.
func claimAudio(ctx context.Context, size int64, asked bool) error {
	a, _ := ctx.Value(audioRoomKey{}).(*audioRoom)
	if a == nil {
		return nil
	}
	if !asked {
		now, cancel := context.WithCancel(ctx)
		cancel()
		ctx = now
	}
	release, err := a.budget.Claim(ctx, a.user, size)
	if err == nil {
		a.release = release
	}
	return err
}
