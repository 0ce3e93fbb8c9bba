package settle

import "sync/atomic"

// aheadPolls is after how many polls in a row a cursor is taken for one that a lie moved: a
// minute of them without a subscription. A node that is merely behind catches up sooner.
const aheadPolls = 12

// Ahead finds out that a cursor of events is ahead of its chain because a node lied about the
// chain's height. Such a cursor would wait for blocks that come much later, or never. It is safe
// for concurrent use.
type Ahead struct{ polls atomic.Int32 }

// Lasts is told after each poll whether a cursor is ahead of what the node says, and reports
// whether it was so often enough to move the cursor back.
func (a *Ahead) Lasts(ahead bool) bool {
	if !ahead {
		a.polls.Store(0)
		return false
	}
	if a.polls.Add(1) < aheadPolls {
		return false
	}
	a.polls.Store(0)
	return true
}
