package platform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/voicemail"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/activity/silero"
	"github.com/callwright/callwright/triage"
)

// modules returns the constructors of all parts of the platform.
func modules() fx.Option {
	return fx.Options(
		fx.Module("base", fx.Provide(newLogLevel, newRuntime, newShares, newSecrets, newService, newPrices, newModelMeter, newModel, newEngines, newAuthority, newNode)),
		fx.Module("storage", fx.Provide(newDatabase, fx.Annotate(newWork, fx.As(fx.Self()), fx.As(new(callwright.Work))))),
		fx.Module("trunks", fx.Provide(newIdentity, newSelf, newResolver, newProber, newMailer, newMonitor, newCallLog, newTrunks, newSetup, newDiscoveries)),
		fx.Module("telephone", fx.Provide(newMedia, newTrusted, newLine, newRegistrations, newTestCalls, newNumberProofs)),
		fx.Module("agents", fx.Provide(newGate, newAgents, newPathways, newPersonas, newRecordings, newWebhooks, newDeliveries, newCallEnds, newCalls)),
		fx.Module("triage", fx.Provide(newTriage)),
		fx.Module("tests", fx.Provide(newTests, newTornados)),
		fx.Module("porting", fx.Provide(newPortGateways, newDocuments, newLetters, newPorts)),
		fx.Module("speech", fx.Provide(newBlobs, newSpeech)),
		fx.Module("http", fx.Provide(newAccess, newListener, newMetrics, newDashboard, newAPI)),
		fx.Invoke(serve),
	)
}

func newAuthority(c Config) (*testca.Authority, error) { return testca.Open(c.Data) }

// starting is a context that ends if the platform must stop before it has started, for example while a database does not answer.
type starting struct{ context.Context } //nolint:containedctx // fx has no other way to give it to constructors

// databaseLimit is how long a request waits for the database before the answer is 503. It is shorter than a node's lease.
const databaseLimit = 10 * time.Second

func newDatabase(lc fx.Lifecycle, begin starting, c Config, s secrets, rt callwright.Runtime) (*bunstore.DB, error) {
	if c.Database != nil {
		return c.Database, s.check(begin, orgstore.Tenants{DB: c.Database})
	}
	db, err := bunstore.Open(begin, c.DatabaseURL, bunstore.Config{
		Keyring: s.Keyring, Limit: databaseLimit, Connections: c.DatabaseConnections - c.workConnections(), Runtime: rt,
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.check(begin, orgstore.Tenants{DB: db}), checkConnections(begin, c, db)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	lc.Append(fx.StopHook(db.Close))
	return db, nil
}

// checkConnections returns an error if the pool exceeds the database server's limit, because the server would refuse its last connections
// under load.
func checkConnections(ctx context.Context, c Config, db *bunstore.DB) error {
	most, err := db.MostConnections(ctx)
	if err == nil && most > 0 && c.DatabaseConnections > most {
		err = fmt.Errorf("--database-connections %d: the database server allows %d for this role and database, and other nodes need some: "+
			"give fewer, or raise max_connections there", c.DatabaseConnections, most)
	}
	return err
}

// stepTimeout exceeds the duration of the longest steps, which ask a model about an ended call or an issue for up to 20 s. rescueAfter is
// short, because a step of a killed node may place a waiting call.
const (
	stepTimeout = 25 * time.Second
	rescueAfter = 30 * time.Second
)

func newWork(begin starting, c Config, db *bunstore.DB, rt callwright.Runtime) (*riverwork.Work, error) {
	rc := riverwork.Config{
		SQL: db.SQL(), Tx: db.Tx, Atomic: db, PostgresDSN: db.PostgresDSN(), Connections: c.workConnections(), StepTimeout: stepTimeout,
		RescueAfter: rescueAfter, Runtime: rt,
	}
	if err := riverwork.Migrate(begin, rc); err != nil {
		return nil, err
	}
	return riverwork.New(rc)
}

func newAgents(
	db *bunstore.DB, model llm.Model, hears conversation.Recognizer, voices *speech.Service, hooks *webhook.Sender, p *pathway.Service,
	personas *persona.Service, rt callwright.Runtime,
) (*agents.Service, error) {
	c := agents.Config{
		Numbers: agentstore.Numbers{DB: db}, WebAgents: agentstore.WebAgents{DB: db}, Atomic: db,
		Webhooks: hooks, Requests: hooks, Brains: hooks, Pathways: p, Personas: personas, Voices: voices, Model: model, Numbering: orgstore.Tenants{DB: db},
		Runtime: rt,
	}
	c.Languages, _ = hears.(conversation.LanguageChecker)
	return agents.New(c)
}

// pathwayParts lists the dependencies of the pathway service.
type pathwayParts struct {
	fx.In
	DB       *bunstore.DB
	Work     callwright.Work
	Webhooks *webhook.Sender
	Model    llm.Model
	Gate     *join.Gate
	Runtime  callwright.Runtime
}

// newPathways returns the pathway service. It configures no knowledge bases, and announce reports that.
func newPathways(p pathwayParts) (*pathway.Service, error) {
	return pathway.New(pathway.Config{
		Store: agentstore.Pathways{DB: p.DB}, Chats: agentstore.Chats{DB: p.DB}, Atomic: p.DB, Work: p.Work, Gate: p.Gate,
		Interpreter: &pathway.Interpreter{Model: p.Model, Requests: p.Webhooks, Runtime: p.Runtime}, Runtime: p.Runtime,
	})
}

func newPersonas(
	p pathwayParts, pathways *pathway.Service, voices *speech.Service, hears conversation.Recognizer,
) (*persona.Service, error) {
	c := persona.Config{
		Store: agentstore.Personas{DB: p.DB}, Atomic: p.DB, Work: p.Work, Pathways: pathways, Requests: p.Webhooks,
		Numbers: agentstore.Numbers{DB: p.DB}, Voices: voices, Runtime: p.Runtime,
	}
	c.Languages, _ = hears.(conversation.LanguageChecker)
	return persona.New(c)
}

func newRecordings(lc fx.Lifecycle, c Config) (call.Recordings, error) {
	if c.Recordings != nil {
		return c.Recordings, nil
	}
	r, err := filestore.New(recordingsFolder(c))
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(r.Close))
	return r, nil
}

func newWebhooks(lc fx.Lifecycle, c Config, db *bunstore.DB, rt callwright.Runtime) (*webhook.Sender, error) {
	s, err := webhook.New(webhook.Config{Tenants: orgstore.Tenants{DB: db}, AllowPrivate: c.allowsPrivate(), Runtime: rt})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(s.Close))
	return s, nil
}

func newDeliveries(
	c Config, db *bunstore.DB, work callwright.Work, m callwright.Mailer, l listener, rt callwright.Runtime,
) (*delivery.Log, error) {
	return delivery.NewLog(delivery.LogConfig{
		Store: orgstore.Deliveries{DB: db}, Endpoints: orgstore.Endpoints{DB: db}, Atomic: db, Work: work,
		Organizations: orgstore.Tenants{DB: db}, Mailer: m, Page: l.publicURL(c) + "/settings/deliveries", Runtime: rt,
	})
}

// callParts lists the dependencies of the call service.
type callParts struct {
	fx.In
	Config     Config
	Shares     shares
	DB         *bunstore.DB
	Work       callwright.Work
	Line       *sipua.UA
	Trunks     *sip.Service
	Agents     *agents.Service
	Pathways   *pathway.Service
	Recordings call.Recordings
	Webhooks   *webhook.Sender
	Model      llm.Model
	Prices     price.Table
	Recognizer conversation.Recognizer
	Engines    engines
	Voices     *speech.Service
	Listener   listener
	Issues     *triage.Service
	Deliveries *delivery.Log
	Ends       callEnds
	Node       node
	Runtime    callwright.Runtime
}

func newCalls(p callParts) (*call.Service, error) {
	c := call.Config{
		Store: agentstore.Calls{DB: p.DB}, Leases: bunstore.Leases{DB: p.DB}, Atomic: p.DB, Work: p.Work,
		Line: p.Line, Routes: p.Trunks, Agents: p.Agents, Observe: p.Ends.observe, Numbering: orgstore.Tenants{DB: p.DB},
		Model: p.Model, Prices: p.Prices.Cost, Recordings: p.Recordings, Notifier: p.Listener.notifier(p.Webhooks, p.Config),
		Recognizer: p.Recognizer, Voices: p.Voices, Ready: p.Engines.Ready,
		AMD:      func(rate int, language string) call.AMD { return voicemail.New(rate, language, nil) },
		Activity: func(rate int) conversation.Activity { return activity.New(rate, silero.New()) },
		Pathways: p.Pathways, Requests: p.Webhooks, RemoteBrain: remoteBrain(p.Webhooks, p.Runtime), Deliveries: p.Deliveries,
		Node: string(p.Node), MaxCalls: p.Shares.calls, DrainTimeout: p.Config.DrainTimeout, Runtime: p.Runtime,
	}
	if p.Config.FailedCallIssues {
		c.Failures = join.FailedCalls{Issues: p.Issues}
	}
	return call.New(c)
}

func newAccess(db *bunstore.DB, s secrets, rt callwright.Runtime) (*access.Service, error) {
	return access.New(access.Config{Store: orgstore.Tenants{DB: db}, Atomic: db, Secret: s.APIKeys, Runtime: rt})
}
