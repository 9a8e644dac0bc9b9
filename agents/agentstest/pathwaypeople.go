package agentstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
)

// concurrentEditors simulates people who work on one pathway concurrently.
type concurrentEditors struct {
	*pathwayFixture
	id    string
	chats []pathway.Chat

	mu    sync.Mutex
	saved map[int]string // hashes of the stored versions by number
	said  map[string]int // number of turns by chat id
}

// act performs a random operation. It returns the operation's error, unless the random arguments or concurrent operations can cause that
// error.
func (c *concurrentEditors) act(ctx context.Context, r *rand.Rand) error {
	number := 1 + r.IntN(6)
	var err error
	var may []callwright.Code
	switch r.IntN(7) {
	case 0:
		err = c.storeOne(ctx, r)
		may = []callwright.Code{callwright.CodeConflict} // others were faster at every attempt
	case 1:
		_, err = c.Publish(ctx, "a", c.id, pathway.Publication{
			Number: number, Environment: []pathway.Environment{pathway.Production, pathway.Staging}[r.IntN(2)], OnPass: r.IntN(2) == 0,
		})
		may = []callwright.Code{callwright.CodeNotFound, callwright.CodePromotionGateFailed, callwright.CodeConflict}
	case 2:
		v, _, findErr := c.Version(ctx, "a", c.id, number)
		if findErr == nil {
			c.gate.Finish(v, r.IntN(3) > 0)
		}
		err = c.FinishTests(ctx, "a", c.id)
		may = []callwright.Code{callwright.CodeConflict}
	case 3:
		err = c.Discard(ctx, "a", c.id, number)
		may = []callwright.Code{callwright.CodeNotFound, callwright.CodeInvalidState, callwright.CodeConflict}
	case 4:
		_, _, err = c.Load(ctx, "a", c.id, pathway.Selector{Environment: pathway.Production})
		may = []callwright.Code{callwright.CodeNotFound}
	default:
		err = c.speak(ctx, r)
		may = []callwright.Code{callwright.CodeConflict}
	}
	for _, code := range may {
		if callwright.CodeOf(err) == code {
			return nil
		}
	}
	return err
}

func (c *concurrentEditors) storeOne(ctx context.Context, r *rand.Rand) error {
	v, err := c.StoreVersion(ctx, "a", c.id, "V", saying(fmt.Sprint("Day ", r.Int(), "?")))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.saved[v.Number] != "" {
		return fmt.Errorf("number %d was given twice", v.Number)
	}
	c.saved[v.Number] = v.Hash
	return nil
}

func (c *concurrentEditors) speak(ctx context.Context, r *rand.Rand) error {
	chat := c.chats[r.IntN(len(c.chats))]
	_, err := c.Say(ctx, "a", chat.ID, fmt.Sprint("Word ", r.Int()))
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.said[chat.ID]++
	}
	return err
}

// look returns an error if a version in use is archived or cannot be read. It may run during concurrent operations.
func (c *concurrentEditors) look(ctx context.Context) error {
	p, err := c.Get(ctx, "a", c.id)
	if err != nil {
		return err
	}
	numbers := []int{p.Production, p.Staging}
	if p.Promotion != nil {
		numbers = append(numbers, p.Promotion.Number)
	}
	for _, number := range numbers {
		if number == 0 {
			continue
		}
		v, err := c.stores.Pathways.Version(ctx, "a", c.id, number)
		if err != nil {
			return err
		}
		if !v.Archived {
			continue
		}
		// The version may have left its environment between the two reads.
		if now, err := c.Get(ctx, "a", c.id); err != nil || now.Revision == p.Revision {
			return fmt.Errorf("version %d is in use and archived; %w", number, err)
		}
	}
	return nil
}

// runConcurrentEditors checks that the pathway stays consistent during random concurrent operations, which save, publish, test, archive and
// load its versions, and that no turn of a concurrent chat is lost.
func runConcurrentEditors(t *testing.T, newStores func(*testing.T) PathwayStores) {
	const people, each, chats = 6, 60, 3
	c := &concurrentEditors{pathwayFixture: newBusy(t, newStores(t)), saved: map[int]string{}, said: map[string]int{}}
	c.id = c.create(t, saying("Hello.")).ID
	talk := c.create(t, hooking()).ID
	for range chats {
		c.chats = append(c.chats, c.chat(t, talk))
	}
	var crowding sync.WaitGroup
	for person := range people {
		crowding.Go(func() {
			r := rand.New(rand.NewPCG(uint64(person), 1))
			for range each {
				if err := errors.Join(c.act(t.Context(), r), c.look(t.Context())); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	crowding.Wait()
	c.check(t)
}

// check checks after all operations that no stored version and no turn of a chat was lost.
func (c *concurrentEditors) check(t *testing.T) {
	t.Helper()
	p := c.get(t, c.id)
	if len(c.saved) == 0 || p.Latest != len(c.saved) {
		t.Errorf("the latest of %d versions has number %d", len(c.saved), p.Latest)
	}
	for number := 1; number <= p.Latest; number++ {
		v, err := c.stores.Pathways.Version(t.Context(), "a", c.id, number)
		if err != nil || v.Hash != c.saved[number] {
			t.Errorf("version %d is %q, saved was %q, %v", number, v.Hash, c.saved[number], err)
		}
	}
	for _, chat := range c.chats {
		last := c.say(t, chat, "The last word.").State
		turns := c.said[chat.ID] + 1
		if heard := count(last.Talk.Messages, llm.RoleCaller); last.Turn != turns+1 || heard != turns {
			t.Errorf("of %d turns %d were noted, and %d things heard", turns, last.Turn-1, heard)
		}
	}
}

func count(messages []llm.Message, role llm.Role) (n int) {
	for _, m := range messages {
		if m.Role == role {
			n++
		}
	}
	return n
}
