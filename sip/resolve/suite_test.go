package resolve_test

import (
	"testing"

	"github.com/callwright/callwright/internal/testdns"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/siptest"
)

func TestDNS(t *testing.T) {
	t.Parallel()
	siptest.RunDNS(t, func(t *testing.T) resolve.DNS { return testdns.Start(t, siptest.Zone...).Resolver() })
}
