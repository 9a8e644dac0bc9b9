package sipstore_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
)

// useTrunks calls every method that queries trunks, statuses or registrations, and returns their errors.
func useTrunks(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	const org, number = callwright.OrgID("o"), callwright.PhoneNumber("+15550000001")
	trunks, statuses := sipstore.Trunks{DB: db}, sipstore.Statuses{DB: db}
	registrations := sipstore.Registrations{DB: db}
	trunk := sip.Trunk{ID: "t", Org: org, Number: number, Direction: sip.Inbound, Version: 1}
	first, status := sip.Status{TrunkID: "t", Org: org}, sip.Status{TrunkID: "t", Org: org, Version: 1}
	begun, registration := sip.Registration{TrunkID: "t", Org: org}, sip.Registration{TrunkID: "t", Org: org, Version: 1}
	errs := []error{
		trunks.Insert(ctx, trunk), trunks.Update(ctx, trunk), trunks.Update(ctx, trunk),
		statuses.StoreStatus(ctx, first), statuses.StoreStatus(ctx, status), statuses.StoreStatus(ctx, status),
		registrations.StoreRegistration(ctx, begun), registrations.StoreRegistration(ctx, registration),
		registrations.StoreRegistration(ctx, registration), registrations.ReleaseRegistrations(ctx, "n"),
	}
	_, trunkErr := trunks.Trunk(ctx, org, "t")
	_, trunksErr := trunks.Trunks(ctx, org, number)
	_, allErr := trunks.List(ctx, org, callwright.Keyset{ID: "+1"}, 10)
	_, outErr := trunks.Outbound(ctx, org, 10)
	_, heldErr := trunks.HoldNumbers(ctx, org)
	errs = append(errs, heldErr)
	_, holdersErr := trunks.Holders(ctx, []callwright.PhoneNumber{number, "+1"})
	errs = append(errs, holdersErr)
	_, ownerErr := trunks.Owner(ctx, number, sip.Inbound)
	_, peersErr := trunks.Peers(ctx, "a", 10)
	_, statusErr := statuses.Status(ctx, org, "t")
	_, statusesErr := statuses.StatusesOf(ctx, org, []string{"t", "u"})
	_, countErr := statuses.CountStatuses(ctx, org, 10)
	_, worstErr := statuses.WorstStatuses(ctx, org, health.Healthy, 10)
	proofs := sipstore.Proofs{DB: db}
	_, _, proofErr := proofs.Insert(ctx, proof.Proof{ID: "p", Org: org, Number: number}, proof.Limits{Number: 9, Org: 9}, now)
	_, latestErr := proofs.Latest(ctx, org, number)
	_, deleteProofsErr := proofs.DeleteOld(ctx, now, 10)
	errs = append(errs, proofErr, latestErr, proofs.Update(ctx, proof.Proof{ID: "p", Org: org, Number: number, Version: 1}), deleteProofsErr)
	deliveries, drafts := sipstore.Deliveries{DB: db}, sipstore.Drafts{DB: db}
	delivery, draft := sip.Delivery{ID: "d", Org: org, Number: number, TrunkID: "t"}, setup.Draft{ID: "s", Org: org, Version: 1}
	_, deliveriesErr := deliveries.DeliveriesOf(ctx, org, number, callwright.Keyset{At: now, ID: "d"}, 10)
	_, deleteDeliveriesErr := deliveries.DeleteOldDeliveries(ctx, now, 10)
	_, draftErr := drafts.Draft(ctx, org, "s")
	_, draftsErr := drafts.DraftsOf(ctx, org, now, 10)
	_, deleteDraftsErr := drafts.DeleteOldDrafts(ctx, now, 10)
	errs = append(errs, deliveries.AddDelivery(ctx, delivery, 10), deliveries.ReportDelivery(ctx, delivery), deliveriesErr,
		deleteDeliveriesErr, deliveries.DeleteDeliveries(ctx, trunk), drafts.InsertDraft(ctx, draft, 10, now), draftErr, draftsErr,
		drafts.UpdateDraft(ctx, draft), drafts.UpdateDraft(ctx, draft), drafts.DeleteDraft(ctx, org, "s"), deleteDraftsErr)
	_, dueErr := statuses.ClaimStatuses(ctx, now, now, 10)
	_, serverErr := statuses.Server(ctx, org, "k")
	_, dueServersErr := statuses.ClaimServers(ctx, now, now, 10)
	_, _, groupErr := statuses.Group(ctx, org, "g")
	server := failover.Server{Host: "h"}
	status.Servers = []sip.ServerStatus{{Server: server}}
	errs = append(errs, serverErr, dueServersErr, groupErr, statuses.StoreStatus(ctx, sip.Status{TrunkID: "t", Org: org, Servers: status.Servers}),
		statuses.RecordStatus(ctx, status), statuses.WakeStatuses(ctx, org, "k", now),
		statuses.StoreServer(ctx, sip.WatchedServer{Org: org, ServerStatus: sip.ServerStatus{Server: server, Version: 1}}))
	_, registrationErr := registrations.Registration(ctx, org, "t")
	_, takeErr := registrations.ClaimRegistrations(ctx, "n", now, 10)
	_, ofErr := registrations.RegistrationsOf(ctx, "n")
	_, nodesErr := registrations.RegistrationNodes(ctx)
	return append(errs, trunkErr, trunksErr, allErr, outErr, ownerErr, peersErr, statusErr, statusesErr, countErr, worstErr, dueErr,
		registrationErr, takeErr, ofErr, nodesErr, trunks.Delete(ctx, trunk), statuses.DeleteStatus(ctx, org, "t"),
		registrations.DeleteRegistration(ctx, org, "t"))
}

// TestProbingReadsNoTable checks the statements of probing when many statuses are overdue, for example after a pause. One statement claims
// statuses in the order of an index, without sorting them all, one reads their servers, and one per status records it by its primary key.
func TestProbingReadsNoTable(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		const count, batch = 5000, 80
		db := open(t)
		statuses, now := sipstore.Statuses{DB: db}, time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
		fillStatuses(t, db, count, func(i int) time.Time { return now.Add(-time.Duration(i%60) * time.Second) })
		if _, err := db.SQL().ExecContext(t.Context(), "ANALYZE"); err != nil {
			t.Fatal(err)
		}
		var due []sip.Status
		seen := storetest.Statements(t, db, func() (err error) {
			due, err = statuses.ClaimStatuses(t.Context(), now, now.Add(time.Minute), batch)
			return err
		})
		if len(seen) != 2 || len(due) != batch {
			t.Fatalf("%d statements leased %d", len(seen), len(due))
		}
		plan := storetest.Explain(t, db, seen[0], true)
		reads := regexp.MustCompile(`Sort|TEMP|Seq Scan|SCAN status_row`).MatchString(plan)
		if reads || !strings.Contains(plan, "trunk_statuses_due") {
			t.Errorf("not by the index alone: %s\n%s", seen[0], plan)
		}
		plan = storetest.Explain(t, db, seen[1], true)
		if regexp.MustCompile(`Seq Scan on trunk_server_names|SCAN name_row`).MatchString(plan) {
			t.Errorf("all names of servers are read: %s\n%s", seen[1], plan)
		}
		seen = storetest.Statements(t, db, func() error {
			return db.Do(t.Context(), func(ctx context.Context) error { return statuses.RecordStatus(ctx, due[0]) })
		})
		plan = storetest.Explain(t, db, seen[0], true)
		byKey := regexp.MustCompile(`trunk_statuses_pkey|autoindex_trunk_statuses_1 \(trunk_id=`).MatchString(plan)
		if len(seen) != 1 || !byKey {
			t.Errorf("not by the primary key alone: %d statements\n%s", len(seen), plan)
		}
	})
}
