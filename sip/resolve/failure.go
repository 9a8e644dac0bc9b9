package resolve

import (
	"context"
	"errors"
	"net"

	"github.com/callwright/callwright"
)

func unavailable(format string, args ...any) *callwright.Error {
	return callwright.Errorf(callwright.CodeUnavailable, format, args...)
}

func absent(host string) *callwright.Error { return unavailable("DNS knows no address of %s", host) }

func notFound(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

// failure says in our own words why DNS gave nothing.
func failure(ctx context.Context, host string, err error) error {
	e, ok := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return unavailable("the question for %s was given up", host).Because(err)
	case ctx.Err() != nil, ok && e.IsTimeout:
		return unavailable("DNS gave no answer for %s in time", host).Because(err)
	case ok && e.IsNotFound:
		return absent(host).Because(err)
	default:
		return unavailable("DNS failed to answer for %s", host).Because(err)
	}
}
