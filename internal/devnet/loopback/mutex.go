package loopback

import "sync"

// Mutex is a sync.Mutex that may be held while its holder waits for time to pass: where
// time is virtual (testing/synctest), it passes only while no goroutine waits for a
// sync.Mutex. The zero value is unlocked.
type Mutex struct {
	mu   sync.Mutex
	free sync.Cond // on mu
	held bool
}

// Lock waits until the mutex is free and takes it.
func (m *Mutex) Lock() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free.L = &m.mu
	for m.held {
		m.free.Wait()
	}
	m.held = true
}

// Unlock gives the mutex back. It panics if the mutex is not locked, as sync.Mutex does.
func (m *Mutex) Unlock() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.held {
		panic("loopback: Unlock of a Mutex that is not locked")
	}
	m.held = false
	m.free.L = &m.mu
	m.free.Signal()
}
