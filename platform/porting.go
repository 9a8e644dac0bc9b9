package platform

import (
	"errors"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/letterpdf"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
	"github.com/callwright/callwright/triage"
)

// checkPortGateways returns an error for an unknown or repeated gateway in --port-gateway.
func (c *Config) checkPortGateways() error {
	seen := map[string]bool{}
	for _, name := range c.PortGateway {
		if name != manual.Name && name != portgateway.SimulatedName || seen[name] {
			return errors.New("--port-gateway must be simulated, manual, or both with a comma, the one for new requests first")
		}
		seen[name] = true
	}
	return nil
}

// The values of --loa-link determine the receivers of the link to a letter of authorization.
const (
	linkInAnswers = "answers"   // the signer by mail, and the client in the answer to its request
	linkInMail    = "mail-only" // only the signer, by mail
)

// checkLOALink returns an error for an unknown value of --loa-link.
func (c *Config) checkLOALink() error {
	if c.LOALink != linkInAnswers && c.LOALink != linkInMail {
		return errors.New("--loa-link must be answers or mail-only")
	}
	return nil
}

// portGateways lists the gateways to carriers. The first receives new requests.
type portGateways []porting.Gateway

func newPortGateways(c Config, db *bunstore.DB, rt callwright.Runtime) (all portGateways, err error) {
	if len(c.Gateways) > 0 {
		return c.Gateways, nil
	}
	for _, name := range c.PortGateway {
		var g porting.Gateway
		if name == manual.Name {
			g, err = manual.New(manual.Config{Store: portingstore.ManualOrders{DB: db}, Runtime: rt})
		} else {
			g, err = portgateway.NewSimulated(portgateway.SimulatedConfig{
				AcceptAfter: c.CarrierTimes.Accept, ConfirmAfter: c.CarrierTimes.Confirm, PortAfter: c.CarrierTimes.Port,
				Secret: c.CarrierSecret, Runtime: rt,
			})
		}
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// portedBy returns a description of the carrier that receives port requests, human-readable.
func (p runsOn) portedBy() string {
	if len(p.Config.Gateways) > 0 {
		return "by " + p.Config.Gateways[0].Capabilities().Name
	}
	if p.Config.PortGateway[0] == manual.Name {
		return "by the operator, who enters what becomes of each order"
	}
	return "by a simulated carrier: no real number moves"
}

func newDocuments(db *bunstore.DB, work callwright.Work, rt callwright.Runtime) (*document.Service, error) {
	return document.New(document.Config{
		Store: portingstore.Documents{DB: db}, Blobs: portingstore.Blobs{DB: db}, Work: work, Runtime: rt,
	})
}

// portParts lists the dependencies of the porting service.
type portParts struct {
	fx.In
	Config    Config
	Secrets   secrets
	DB        *bunstore.DB
	Work      callwright.Work
	Gateways  portGateways
	Documents *document.Service
	Agents    *agents.Service
	Trunks    *sip.Service
	Issues    *triage.Service
	Webhooks  *webhook.Sender
	Mailer    callwright.Mailer
	Listener  listener
	Runtime   callwright.Runtime

	Deliveries *delivery.Log
}

func newLetters(p portParts) (*loa.Service, error) {
	renderer, err := letterpdf.New()
	if err != nil {
		return nil, err
	}
	return loa.New(loa.Config{
		Store: portingstore.Letters{DB: p.DB}, Atomic: p.DB, Work: p.Work, Mailer: p.Mailer, Renderer: renderer,
		Provider: p.Config.ProviderName, Key: p.Secrets.Letters, MailOnly: p.Config.LOALink == linkInMail, Runtime: p.Runtime,
		URL: func(token string) string { return p.Listener.publicURL(p.Config) + "/loa/" + token },
	})
}

// newPorts returns the porting service. It attaches the service to letters, so that signatures reach the service.
func newPorts(p portParts, letters *loa.Service) (*porting.Service, error) {
	c := porting.Config{
		Store: portingstore.Requests{DB: p.DB}, Atomic: p.DB, Work: p.Work, Gateway: p.Gateways[0], Former: p.Gateways[1:],
		Documents: p.Documents, Letters: letters, Inbound: p.Agents, Trunks: p.Trunks, CallsFrom: p.Config.PortedCallsFrom, Mailer: p.Mailer,
		Notifier: portingapi.NewNotifier(p.Webhooks), URLs: p.Webhooks, MaxHourly: p.Config.PortsPerHour,
		Deliveries: p.Deliveries, Numbering: orgstore.Tenants{DB: p.DB}, Runtime: p.Runtime,
	}
	if p.Config.FailedPortIssues {
		c.Failures = join.FailedPorts{Issues: p.Issues}
	}
	ports, err := porting.New(c)
	if err != nil {
		return nil, err
	}
	letters.Attach(ports)
	return ports, nil
}
