package sipapi

import (
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// Config holds the services of the area. If a service is nil, its operations answer 501. Without Trunks, all operations do.
type Config struct {
	Trunks      *sip.Service
	Calls       *calllog.Service
	Setup       *setup.Service
	Discoveries *discovery.Service
	TestCalls   *testcall.Service
	Proofs      *proof.Service
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New returns the area of SIP trunks.
func New(c Config) httpapi.Area {
	return httpapi.Area{Area: oas.Area(&api{cfg: c}), Absent: c.absent}
}

// absent reports whether a service that an operation requires is nil. Every operation requires the trunks.
func (c Config) absent(operation string) bool {
	switch operation {
	case oas.ListSipCallsOperation, oas.GetSipCallTimelineOperation:
		return c.Trunks == nil || c.Calls == nil
	case oas.GetSipFirewallAddressesOperation, oas.GetSipOutboundSetupOperation:
		return c.Trunks == nil || c.Setup == nil
	case oas.StartSipDiscoveryOperation, oas.GetSipDiscoveryOperation:
		return c.Trunks == nil || c.Discoveries == nil
	case oas.StartSipTestCallOperation, oas.GetSipTestCallOperation:
		return c.Trunks == nil || c.TestCalls == nil
	case oas.StartSipNumberProofOperation, oas.GetSipNumberProofOperation, oas.VerifySipNumberProofOperation:
		return c.Trunks == nil || c.Proofs == nil
	default:
		return c.Trunks == nil
	}
}
