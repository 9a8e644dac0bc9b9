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

// Limits of the memory that all requests of a handler use together. A user is an address or, behind a proxy on this machine, a key.
const (
	smallBody  = 16 << 10 // up to this size, a body does not count toward bodyMemory
	maxBodies  = 4096     // bodies that are being received
	bodyMemory = 32 << 20 // bytes of bodies larger than smallBody, until their requests are answered
	audioSpace = 32 << 20 // bytes of audio in results; creating a result uses about eight times as much memory
	userShare  = 4        // a user may use a quarter of each limit, and half of MaxRequests
	roomWait   = 5 * time.Second
)

// rooms limits the memory that the requests of a handler use.
type rooms struct {
	bodies, memory, requests, audio *node.Budget
}

func newRooms(requests int) *rooms {
	return &rooms{
		bodies:   &node.Budget{Total: maxBodies, Share: maxBodies / userShare, Busy: "too many bodies of requests are being read: try again"},
		memory:   &node.Budget{Total: bodyMemory, Share: bodyMemory / userShare, Wait: roomWait, Busy: "too many large bodies of requests are being processed: try again"},
		requests: &node.Budget{Total: int64(requests), Share: int64(requests+1) / 2, Busy: "too many requests are being processed: try again"},
		audio:    &node.Budget{Total: audioSpace, Share: audioSpace / userShare, Wait: roomWait, Busy: "too much audio is in results"},
	}
}

// userOf returns the user whose share a request counts toward. It does not check the key.
func userOf(r *http.Request) string {
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	if source := callwright.Source(remote.Addr()); source.IsValid() && !source.IsLoopback() {
		return source.String()
	}
	return keyUser(keyOf(r.Header.Get("Authorization")))
}

// keyUser returns the user of a key: a hash, from which the key cannot be derived.
func keyUser(key callwright.Secret) string {
	sum := sha256.Sum256([]byte(key))
	return string(sum[:])
}

// receive reads the body of a request, which must arrive within bodyLimit. For a body larger than smallBody, it reserves memory and may
// wait for it. If err is nil, the caller must call the function release.
func (m *rooms) receive(w http.ResponseWriter, r *http.Request, user string) (body []byte, release func(), err error) {
	leave, err := m.bodies.Claim(r.Context(), user, 1)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyLimit)) // fails only for writers without deadlines
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

// refuseBody answers a request whose body was not received, according to the error of receive.
func refuseBody(w http.ResponseWriter, err error) {
	_, large := errors.AsType[*http.MaxBytesError](err)
	busy, full := errors.AsType[*callwright.Error](err)
	switch {
	case large:
		refuse(w, http.StatusRequestEntityTooLarge, callwright.CodePayloadTooLarge, "the body of a request must have at most 256 KiB")
	case full:
		refuseBusy(w, busy.Message)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusRequestTimeout, callwright.CodeBadRequest, "the body of a request must come within "+bodyLimit.String())
	default:
		refuse(w, http.StatusBadRequest, callwright.CodeBadRequest, "the body of the request is incomplete: send it again")
	}
}

func refuseBusy(w http.ResponseWriter, message string) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, callwright.CodeUnavailable, message)
}

// isBatch reports whether a body is a JSON list, which is a batch of messages.
func isBatch(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '['
}

const noBatches = "a request must contain one message: batches are not supported (the protocol removed them in version 2025-06-18)"

// refuseBatch answers 400 to a batch of messages, with an error of JSON-RPC.
func refuseBatch(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"`+noBatches+`"}}`) // fails if disconnected
}

// audioRoom reserves memory for the audio of a request, which contains at most one call of a tool. The reservation lasts until the result
// has been written.
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

// claimAudio reserves memory for the audio of a call's result. It returns nil without a reservation if ctx has no audioRoom, as with
// ServeStdio. It waits only for requested audio.
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
