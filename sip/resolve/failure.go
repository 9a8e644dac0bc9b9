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

func absent(host string) *callwright.Error { return unavailable("%s has no address in DNS", host) }

func notFound(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

// failure converts the error of a DNS query for a host to a CodeUnavailable error whose message describes the cause.
func failure(ctx context.Context, host string, err error) error {
	e, ok := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return unavailable("the DNS query for %s was canceled", host).Because(err)
	case ctx.Err() != nil, ok && e.IsTimeout:
		return unavailable("the DNS query for %s timed out", host).Because(err)
	case ok && e.IsNotFound:
		return absent(host).Because(err)
	default:
		return unavailable("the DNS query for %s failed", host).Because(err)
	}
}
