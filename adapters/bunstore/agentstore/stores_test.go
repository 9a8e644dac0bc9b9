package agentstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

func TestStores(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		agentstest.RunCallStore(t, func(t *testing.T) call.Store { return agentstore.Calls{DB: open(t)} },
			func(t *testing.T, s call.Store) []byte { return storetest.AtRest(t, s.(agentstore.Calls).DB) }) //nolint:forcetypeassert // it is ours
		agentstest.RunWebAgentStore(t, func(t *testing.T) agents.WebAgents { return agentstore.WebAgents{DB: open(t)} },
			func(t *testing.T, s agents.WebAgents) []byte { return storetest.AtRest(t, s.(agentstore.WebAgents).DB) }) //nolint:forcetypeassert // it is ours
		agentstest.RunPathwayStore(t, func(t *testing.T) pathway.Store { return agentstore.Pathways{DB: open(t)} },
			func(t *testing.T, s pathway.Store) []byte { return storetest.AtRest(t, s.(agentstore.Pathways).DB) }) //nolint:forcetypeassert // it is ours
		agentstest.RunChatStore(t, func(t *testing.T) (pathway.Store, pathway.Chats) {
			db := open(t)
			return agentstore.Pathways{DB: db}, agentstore.Chats{DB: db}
		})
		agentstest.RunPathwayCrowd(t, func(t *testing.T) agentstest.PathwayStores {
			db := open(t)
			return agentstest.PathwayStores{
				Pathways: agentstore.Pathways{DB: db}, Chats: agentstore.Chats{DB: db}, Atomic: db, Work: memstore.NewWork(memstore.New(), nil),
			}
		})
		agentstest.RunPersonaStore(t, func(t *testing.T) persona.Store { return agentstore.Personas{DB: open(t)} },
			func(t *testing.T, s persona.Store) []byte { return storetest.AtRest(t, s.(agentstore.Personas).DB) }) //nolint:forcetypeassert // it is ours
		agentstest.RunPersonaDeletion(t, func(t *testing.T) agentstest.PersonaStores {
			db := open(t)
			return agentstest.PersonaStores{
				Numbers: agentstore.Numbers{DB: db}, Agents: agentstore.WebAgents{DB: db}, Personas: agentstore.Personas{DB: db}, Atomic: db,
			}
		})
		agentstest.RunNumberStore(t, func(t *testing.T) agents.NumberStore { return agentstore.Numbers{DB: open(t)} },
			func(t *testing.T, s agents.NumberStore) []byte { return storetest.AtRest(t, s.(agentstore.Numbers).DB) }) //nolint:forcetypeassert // it is ours
	})
}

// TestEveryStatementUsesAnIndex runs every query of the stores and fails if a query scans a whole table.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, func(ctx context.Context, db *bunstore.DB, now time.Time) []error {
		return slices.Concat(useCalls(ctx, db, now), usePathways(ctx, db, now), usePersonas(ctx, db, now))
	})
}

// useCalls calls every method that queries calls or inbound numbers, and returns their errors.
func useCalls(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org, number = callwright.OrgID("o"), callwright.PhoneNumber("+15550000001")
	numbers, calls := agentstore.Numbers{DB: db}, agentstore.Calls{DB: db}
	live := call.Call{ID: "c", Org: org, Queue: call.QueueStarted, Node: "n", CreatedAt: now, Version: 1}
	inbound := agents.InboundNumber{Org: org, Number: number, Version: 1}
	yes := true
	errs := []error{
		numbers.InsertNumber(ctx, inbound), numbers.UpdateNumber(ctx, inbound), numbers.UpdateNumber(ctx, inbound),
		calls.Insert(ctx, live), calls.Update(ctx, live), calls.Update(ctx, live),
		calls.Append(ctx, org, "c", call.Entry{Seq: 1}), calls.RequestStop(ctx, org, "c"),
		calls.AppendLog(ctx, org, "c", pathway.Log{Turn: 1}), calls.AppendNotice(ctx, org, "c", call.Notice{Seq: 1}),
	}
	_, numberErr := numbers.Number(ctx, org, number)
	_, numbersErr := numbers.Numbers(ctx, org, callwright.Keyset{ID: "+1"}, 10)
	_, callErr := calls.Get(ctx, org, "c")
	_, linesErr := calls.Transcript(ctx, org, "c")
	_, partErr := calls.TranscriptBefore(ctx, org, "c", 5, 10)
	_, placesErr := calls.LinesAt(ctx, org, []call.LinePlace{{Call: "c", Seq: 1}, {Call: "d", Seq: 2}})
	_, turnsErr := calls.LogsBefore(ctx, org, "c", 5, 10)
	_, revisionsErr := calls.Revisions(ctx, org, call.Filter{From: "a", Scan: 5, Completed: &yes})
	_, positionErr := calls.Position(ctx, org, "c")
	_, hoursErr := calls.Hours(ctx, org, now, now)
	_, stopsErr := calls.Stops(ctx, "n")
	_, lostErr := calls.Lost(ctx, []string{"m"}, now, 10)
	_, _, listErr := calls.List(ctx, org, call.Filter{
		Inbound: &yes, Completed: &yes, Since: now, Before: now, AnsweredBy: call.AnsweredByHuman,
		Status: call.StatusCompleted, LongerThan: time.Second, ShorterThan: time.Minute,
	})
	_, _, pathwayErr := calls.List(ctx, org, call.Filter{Pathway: "p"})
	_, _, scanErr := calls.List(ctx, org, call.Filter{From: "a", To: "b", Pathway: "p", Scan: 5})
	_, logsErr := calls.Logs(ctx, org, "c")
	_, noticeErr := calls.Notice(ctx, org, "c", 1)
	return append(errs, numberErr, numbersErr, callErr, linesErr, partErr, placesErr, turnsErr, stopsErr, lostErr, listErr, pathwayErr, logsErr, noticeErr,
		hoursErr, scanErr, revisionsErr, positionErr)
}

func TestMain(m *testing.M) { storetest.Main(m) }
