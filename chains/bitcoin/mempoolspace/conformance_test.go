package mempoolspace_test

import (
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/backendtest"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	devnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

func start(t testing.TB, o devnet.Options) *devnet.Net {
	t.Helper()
	n := trial.Must(devnet.Start(o))(t)
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func client(t testing.TB, o mempoolspace.Options) *mempoolspace.Client {
	t.Helper()
	o.Network = bitcoin.Regtest
	if o.TipAge == 0 {
		o.TipAge = -1
	}
	c := trial.Must(mempoolspace.New(o))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestConformance(t *testing.T) {
	t.Parallel()
	n := start(t, devnet.Options{})
	backendtest.Run(t, backendtest.Setup{
		Chain:       devnet.NewPlayground(n),
		MostWaiting: 50, Backend: client(t, mempoolspace.Options{URLs: []string{n.URL()}}),
		Listening: func(t *testing.T) (bitcoin.Backend, func(backendtest.Trouble)) {
			teller := trial.Must(n.Serve(""))(t)
			c := client(t, mempoolspace.Options{URLs: []string{n.URL()}, WebSocket: []string{teller.SocketURL()}})
			return c, func(trouble backendtest.Trouble) {
				teller.Misbehave(devnet.Fault{Down: trouble.Cut, Flood: trouble.Flooding, Mute: trouble.Mute, Silent: trouble.Silent})
			}
		},
	})
}
