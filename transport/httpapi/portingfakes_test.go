package httpapi_test

import (
	"context"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
)

// portingFakes are what the porting service of a house is made of.
type portingFakes struct {
	porting porting.Config
	carrier *portgateway.Simulated
}

// portService makes the service of port requests, whose carrier is simulated. Nothing advances its requests.
func (h *house) portService(work callwright.Work) *porting.Service {
	h.carrier = must(portgateway.NewSimulated(portgateway.SimulatedConfig{Secret: "carrier-secret"}))
	h.porting = porting.Config{
		Store: portingstore.Requests{Store: h.store}, Atomic: h.store, Work: work, Gateway: h.carrier,
		Documents: anyDocuments{}, Letters: mailedLetters{}, Inbound: h.inbound(), Notifier: silentPorts{}, URLs: notifier{},
	}
	return must(porting.New(h.porting))
}

// inbound registers numbers with nobody.
func (h *house) inbound() porting.InboundNumbers { return nobody{} }

type nobody struct{}

func (nobody) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

// anyDocuments has every document whose id looks like one.
type anyDocuments struct{}

func (anyDocuments) UseDocuments(_ context.Context, _ callwright.OrgID, _ string, ids []string) (absent []string, err error) {
	for _, id := range ids {
		if !strings.HasPrefix(id, "doc_") {
			absent = append(absent, id)
		}
	}
	return absent, nil
}

// mailedLetters are letters whose links name their requests.
type mailedLetters struct{}

func (mailedLetters) SendLetter(_ context.Context, r porting.Request) (porting.Letter, error) {
	return porting.Letter{URL: callwright.Secret("https://voice.example.com/loa/first-token-of-" + r.ID)}, nil
}

func (mailedLetters) ResendLetter(_ context.Context, r porting.Request) (porting.Letter, error) {
	if r.Entries > 5 {
		return porting.Letter{}, callwright.Errorf(callwright.CodeTooManyRequests, "the letter was sent again 5 times, which is the limit: cancel the port request and make another one")
	}
	return porting.Letter{URL: callwright.Secret("https://voice.example.com/loa/next-token-of-" + r.ID)}, nil
}

func (mailedLetters) RevokeLetter(context.Context, callwright.OrgID, string) error { return nil }

// silentPorts tells no webhook.
type silentPorts struct{}

func (silentPorts) NotifyPort(context.Context, string, porting.Request, porting.Entry) error {
	return nil
}

// withPorts returns the house with another service of port requests over the same store.
func (h *house) withPorts(change func(*porting.Config)) *house {
	h.t.Helper()
	c := h.porting
	c.Work = memstore.NewWork(h.store, nil)
	change(&c)
	other := &house{t: h.t, store: h.store, access: h.access, org: h.org, key: h.key, logger: h.logger}
	other.Handler = contracttest.Handler(h.t, must(httpapi.New(httpapi.Config{
		Access: h.access, Atomic: h.store, Idempotency: h.answers(), Logger: h.logger,
		Areas: []httpapi.Area{portingapi.New(portingapi.Config{Ports: must(porting.New(c))})},
	})))
	return other
}
