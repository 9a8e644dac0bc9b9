package httpapi_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/letterpdf"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
)

// portingFakes holds the fakes of a house's porting services.
type portingFakes struct {
	porting porting.Config
	carrier *portgateway.Simulated
	letters loa.Config
	mails   mailbox
}

// renderer renders real letters. All tests share it, because loading its fonts is slow.
var renderer = sync.OnceValue(func() *letterpdf.Renderer { return must(letterpdf.New()) })

// ports returns the services of port requests, with a simulated carrier. No worker advances the requests.
func (h *house) ports(work callwright.Work) portingapi.Config {
	h.carrier = must(portgateway.NewSimulated(portgateway.SimulatedConfig{Secret: "carrier-secret"}))
	documents := must(document.New(document.Config{
		Store: portingstore.Documents{Store: h.store}, Blobs: portingstore.Blobs{Store: h.store}, Work: work,
	}))
	h.letters = loa.Config{Provider: "Acme Telecom",
		Store: portingstore.Letters{Store: h.store}, Atomic: h.store, Work: work, Mailer: &h.mails, Renderer: renderer(),
		Key: callwright.Secret(strings.Repeat("k", loa.MinKey)), URL: func(token string) string { return "https://voice.example.com/loa/" + token },
	}
	letters := must(loa.New(h.letters))
	h.porting = porting.Config{
		Store: portingstore.Requests{Store: h.store}, Atomic: h.store, Work: work, Gateway: h.carrier,
		Documents: heldDocuments{documents}, Letters: letters, Inbound: nobody{}, Notifier: silentPorts{}, URLs: notifier{},
		Numbering: orgstore.Tenants{Store: h.store},
	}
	service := must(porting.New(h.porting))
	letters.Attach(service)
	return portingapi.Config{Ports: service, Documents: documents, Letters: letters}
}

// withPorts returns a house with the same store that serves only the area of porting. change alters the configurations of its porting and
// letter services.
func (h *house) withPorts(change func(*porting.Config, *loa.Config)) *house {
	h.t.Helper()
	c, l := h.porting, h.letters
	c.Work = memstore.NewWork(h.store, nil)
	l.Work = c.Work
	change(&c, &l)
	letters := must(loa.New(l))
	c.Letters = letters
	service := must(porting.New(c))
	letters.Attach(service)
	other := &house{t: h.t, store: h.store, access: h.access, org: h.org, key: h.key, log: h.log, logger: h.logger}
	other.porting, other.letters = c, l
	other.unchecked = must(httpapi.New(httpapi.Config{
		Access: h.access, Atomic: h.store, Idempotency: h.answers(), Runtime: callwright.Runtime{Logger: h.logger},
		Areas: []httpapi.Area{portingapi.New(portingapi.Config{Ports: service, Letters: letters, Documents: h.areas.ports.Documents})},
	}))
	other.Handler = contracttest.Handler(h.t, other.unchecked)
	return other
}

// heldDocuments accepts uploaded documents, and the ids of documents in the tests and in the contract's examples.
type heldDocuments struct{ *document.Service }

func (d heldDocuments) UseDocuments(
	ctx context.Context, org callwright.OrgID, request string, ids []string,
) (absent []string, err error) {
	absent, err = d.Service.UseDocuments(ctx, org, request, ids)
	return slices.DeleteFunc(absent, func(id string) bool { return id == "doc_1" || id == "doc_0197f2a4c0007a1c8d2e5f3a1c9b7d20" }), err
}

// mailbox is a Mailer that discards all mail.
type mailbox struct{}

func (*mailbox) SendMail(context.Context, string, string, string, string) error { return nil }

// nobody is a registrar that ignores registrations.
type nobody struct{}

func (nobody) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

// silentPorts discards the notices of port requests.
type silentPorts struct{}

func (silentPorts) NotifyPort(context.Context, string, porting.Request, porting.Entry) error {
	return nil
}
