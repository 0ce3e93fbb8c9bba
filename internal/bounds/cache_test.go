package bounds

import (
	"sync"
	"testing"
)

func TestForgetsTheLeastRecentlyUsed(t *testing.T) {
	c := NewCache[string, int](2)
	c.Add("a", 1)
	c.Add("b", 2)
	c.Get("a")
	c.Add("c", 3)
	c.Add("a", 4)
	for key, want := range map[string]int{"a": 4, "c": 3} {
		if v, ok := c.Get(key); !ok || v != want {
			t.Errorf("%s: %d, %v", key, v, ok)
		}
	}
	if _, ok := c.Get("b"); ok || c.Len() != 2 {
		t.Error("b is still there")
	}
}

func TestConcurrentUse(t *testing.T) {
	c := NewCache[int, int](10)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 1000 {
				c.Add(k%20+i, k)
				c.Get(k % 20)
			}
		})
	}
	wg.Wait()
	if c.Len() != 10 {
		t.Error(c.Len())
	}
}
