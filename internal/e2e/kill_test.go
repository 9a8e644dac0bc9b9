package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
)

// kills is how many times TestKills kills the server on each database.
const kills = 8

// killSeed repeats the moments of an earlier run, if the writers' requests arrive in the same order.
var killSeed = flag.Uint64("killseed", 1, "seed of the moments at which TestKills kills")

// TestKills kills the server repeatedly during writes and calls, and restarts it on the same data. Acknowledged writes must exist once,
// other writes once or not at all, and no write partially. So the API must show the same state as after the same writes without a kill.
func TestKills(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"SQLite": nil, "PostgreSQL": {"--database-url", pgtest.DSN(t)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKilling(t, *killSeed, flags)
			for range kills {
				if !t.Failed() {
					k.round(t)
				}
			}
			if !t.Failed() {
				k.end(t)
			}
		})
	}
}

// teller is a writer. tell performs the next part of its writes and returns true, or returns false if the server was killed first or a
// check failed. After a kill, the test calls tell again with the next server.
type teller interface {
	tell(ctx context.Context, g *target) bool
}

// killing is the state of a run of TestKills.
type killing struct {
	config server.Config
	random *rand.Rand
	phone  *baresip.Phone
	office *office
	acked  map[string]int
	before int // number of calls that the preparation placed

	stories []*storyTeller
	caller  *caller
	chatter *chatter
	tester  *tester
	prober  *probeWriter
}

// newKilling starts the first server, prepares its data, and records the expected results of each script without a kill.
func newKilling(t *testing.T, seed uint64, flags []string) *killing {
	t.Helper()
	ca := authority(t)
	k := &killing{
		random: rand.New(rand.NewPCG(seed, 0)), office: newOffice(t), acked: map[string]int{}, before: 1,
		phone: baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()}), prober: &probeWriter{},
	}
	k.config = server.Config{Data: t.TempDir(), Roots: ca.CertFile(), Flags: flags}
	k.caller = &caller{office: k.office.url, random: rand.New(rand.NewPCG(seed, 1))}
	s := server.Start(t, k.config)
	s.AttachOutbound(t, ours.String(), k.phone.Server())
	s.AttachOutbound(t, refused, "sip:127.0.0.1:9;transport=tls")
	request := appointment()
	request.From.SetTo(refused)
	call := s.Call(t, request)
	s.Ended(t, call)
	g := aim(t, s, moment{}, k.acked)
	made, ok := g.write(t.Context(), requestOf("createPathway", `{"name":"of chats",`+graphOf+`}`))
	var pathway struct {
		ID string `json:"pathway_id"`
	}
	if err := json.Unmarshal([]byte(made.body), &pathway); err != nil || !ok {
		t.Fatalf("the pathway of the chats: %+v", made)
	}
	k.chatter = &chatter{pathway: pathway.ID}
	k.tester = newTester(t, g, pathway.ID, rand.New(rand.NewPCG(seed, 2)))
	const each = 2 // number of writers for each list of scripts
	known, numbers := states{}, &names{}
	for _, scripts := range scripts() {
		for _, c := range scripts {
			known[c.name] = c.learn(t.Context(), g, numbers.story(c, call, pathway.ID))
		}
		for range each {
			k.stories = append(k.stories, &storyTeller{scripts: scripts, want: known, names: numbers, call: call, pathway: pathway.ID})
		}
	}
	s.Stop(t)
	clear(k.acked)
	return k
}

// requestOf returns a request for an operation whose path contains no parameters.
func requestOf(op, body string) request {
	return request{op: op, target: strings.Join(operation(op).Segments, "/"), body: body}
}

// names creates stories with unique names and phone numbers.
type names struct {
	mu sync.Mutex
	n  int
}

func (n *names) story(c *script, call, pathway string) *story {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.n++
	return &story{script: c, name: fmt.Sprintf("s%03dx", n.n), number: fmt.Sprintf("1415556%04d", n.n), call: call, pathway: pathway}
}

// storyTeller is a writer that runs its scripts in turn, each as a new story.
type storyTeller struct {
	scripts []*script
	want    states
	names   *names
	call    string
	pathway string
	told    []*story // stories so far; the last may be unfinished
}

// tell finishes the previous story, and then runs one story of each script.
func (w *storyTeller) tell(ctx context.Context, g *target) bool {
	if len(w.told) > 0 && !w.told[len(w.told)-1].tell(ctx, g, w.want) {
		return false
	}
	for range w.scripts {
		next := w.names.story(w.scripts[len(w.told)%len(w.scripts)], w.call, w.pathway)
		w.told = append(w.told, next)
		if !next.tell(ctx, g, w.want) {
			return false
		}
	}
	return true
}

// tellers returns all writers.
func (k *killing) tellers() []teller {
	all := []teller{k.caller, k.chatter, k.tester, k.prober}
	for _, w := range k.stories {
		all = append(all, w)
	}
	return all
}

// round starts the server and the writers, and kills the server at a random moment.
func (k *killing) round(t *testing.T) {
	t.Helper()
	const most = 60 // maximum number of the request at which the server is killed
	m := moment{phase(k.random.IntN(int(phases))), 1 + k.random.IntN(most)}
	g := aim(t, server.Start(t, k.config), m, k.acked)
	k.caller.ring(t, g, k.random.IntN(2) == 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writing sync.WaitGroup
	for _, w := range k.tellers() {
		writing.Go(func() {
			for !t.Failed() && w.tell(ctx, g) {
			}
		})
	}
	written := make(chan struct{})
	go func() {
		writing.Wait()
		close(written)
	}()
	select {
	case <-g.due:
	case <-written: // all writers stopped because the test has failed
	}
	g.server.Kill()
	cancel()
	<-written
	clearCalls(t, k.phone)
	t.Logf("killed at %+v", m)
}

// end starts the server for the last time, lets all writers finish, and checks the results of all of their writes.
func (k *killing) end(t *testing.T) {
	t.Helper()
	g := aim(t, server.Start(t, k.config), moment{}, k.acked)
	var writing sync.WaitGroup
	for _, w := range k.tellers() {
		writing.Go(func() { w.tell(t.Context(), g) })
	}
	writing.Wait()
	await.That(t, "a discovery and a test call to begin", func() bool {
		return k.acked["startSipDiscovery"] > 0 && k.acked["startSipTestCall"] > 0 || !k.prober.tell(t.Context(), g)
	})
	k.caller.last(t, g)
	stories := 0
	for _, w := range k.stories {
		stories += len(w.told)
		for _, s := range w.told {
			s.check(t.Context(), g, w.want)
		}
	}
	t.Logf("%d stories were told", stories)
	k.prober.check(t, g)
	k.caller.check(t, g, k.office, k.before)
	k.chatter.check(t, g)
	k.tester.check(t, g)
	for op, how := range guarded {
		if how == byKills && k.acked[op] == 0 {
			t.Errorf("%s was never answered", op)
		}
	}
	g.server.Stop(t)
}
