package httpapi

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// Limits of the memory of all request bodies together. An organization, or an address without a key, may use at most a quarter of each.
const (
	receivedBodies = 64 << 20  // bytes of bodies larger than smallBody, until their requests are answered
	decodedBodies  = 256 << 20 // bytes of their decoded form, estimated
	decodedSmall   = 128 << 20 // bytes of the decoded form of small bodies, estimated
	uploads        = 256 << 20 // bytes of uploaded forms, in files or in memory, until their requests are answered
	bodyShare      = 4
	bodyWait       = 5 * time.Second // maximum wait for each of these limits
)

// Estimated memory for decoding a body, in bytes per byte and per value. Measured with the garbage collector's overhead, a value of a free
// object uses 200 bytes, and a value of the largest structures 650.
const (
	costOfByte  = 6
	costOfValue = 512
)

// bodies limits the memory that all request bodies use in a process. A small body never waits for a larger one.
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

// room holds the reservations of one request's body.
type room struct {
	request *http.Request
	of      *bodies
	taken   []func()
}

// uploadMemory is the part of an upload's files that is held in memory, in bytes. The rest is in temporary files until the request is
// answered. Areas with uploads pass uploadMemory to their generated server.
const uploadMemory = 64 << 10

// toUpload reserves room for an upload of size bytes. It waits up to bodyWait.
func (r *room) toUpload(size int64) error { return r.claim(r.of.uploads, size) }

// toReceive reserves memory for a body of size bytes. It waits up to bodyWait.
func (r *room) toReceive(size int64) error { return r.claim(r.of.received, size) }

// toDecode reserves memory for the decoded form of a body with the given size in bytes and number of values. It waits up to bodyWait.
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

// userOf returns the user whose share a request's body counts toward: its organization, or its address before the organization is known.
func userOf(r *http.Request) string {
	if org := Org(r.Context()); org != "" {
		return "org " + string(org)
	}
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	return "address " + callwright.Source(remote.Addr()).String()
}
