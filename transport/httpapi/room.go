package httpapi

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// Limits of the memory of all request bodies together. One organization, or one address without a key, gets a quarter.
const (
	receivedBodies = 64 << 20  // bytes, of bodies that are not small, until they are answered
	decodedBodies  = 256 << 20 // bytes of their decoded form
	decodedSmall   = 128 << 20 // bytes of the decoded form of small bodies
	uploads        = 256 << 20 // bytes, of files and their forms, on the disk or in memory, until they are answered
	bodyShare      = 4
	bodyWait       = 5 * time.Second // for each of these
)

// Memory for decoding a body, in bytes. Measured, with the garbage collector's share: 200 bytes for a value of a free object,
// 650 for one of the largest structures.
const (
	costOfByte  = 6
	costOfValue = 512
)

// bodies bounds the memory that requests' bodies take in a process. A small one never waits for room behind a larger one.
type bodies struct {
	received, decoded, small, uploads *node.Budget
}

func newBodies() *bodies {
	budget := func(total int64) *node.Budget {
		return &node.Budget{
			Total: total, Share: total / bodyShare, Wait: bodyWait, Busy: "too many bodies of requests are being read: send the request again later",
		}
	}
	return &bodies{received: budget(receivedBodies), decoded: budget(decodedBodies), small: budget(decodedSmall), uploads: budget(uploads)}
}

// room is the memory that one body has reserved.
type room struct {
	request *http.Request
	of      *bodies
	taken   []func()
}

// uploadMemory is the part of an upload's files that stays in memory, in bytes; the rest lies in the folder for temporary
// files while its request is answered. Areas with uploads give it to their generated server.
const uploadMemory = 64 << 10

// toUpload waits for the room of a file and its form.
func (r *room) toUpload(size int64) error { return r.claim(r.of.uploads, size) }

// toReceive waits for the memory of a body.
func (r *room) toReceive(size int64) error { return r.claim(r.of.received, size) }

// toDecode waits for the memory of the decoded body.
func (r *room) toDecode(size, values int) error {
	budget := r.of.decoded
	if size <= smallBody {
		budget = r.of.small
	}
	return r.claim(budget, int64(size)*costOfByte+int64(values)*costOfValue)
}

func (r *room) claim(budget *node.Budget, amount int64) error {
	release, err := budget.Claim(r.request.Context(), userOf(r.request), amount)
	if err == nil {
		r.taken = append(r.taken, release)
	}
	return err
}

func (r *room) release() {
	for _, release := range r.taken {
		release()
	}
}

// userOf returns the account that a request's memory counts to: its organization or, before that is known, its address.
func userOf(r *http.Request) string {
	if org := Org(r.Context()); org != "" {
		return "org " + string(org)
	}
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	return "address " + callwright.Source(remote.Addr()).String()
}
