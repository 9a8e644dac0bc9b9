package monitor

import (
	"context"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// Prober asks one server with OPTIONS over TLS.
type Prober interface {
	// Options asks until ctx ends and says what came of it. Every final answer means that the server is alive but 408
	// and the 5xx that say it is out of order. Connections may stay for the next probe.
	Options(ctx context.Context, s failover.Server, verify sip.TLSVerification) health.Evidence
}
