package devnet_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestStarknetIsControlled(t *testing.T) {
	n := trial.Must(devnet.Start(t.Context(), devnet.Options{Starknet: true}))(t)
	defer n.Close()
	h := control.Handler(n)
	post := func(path string) (answer struct{ Block uint64 }, status int) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/starknet/"+path, nil))
		_ = json.Unmarshal(w.Body.Bytes(), &answer) // or it is a refusal
		return answer, w.Code
	}
	block := func(path string) uint64 {
		t.Helper()
		answer, status := post(path)
		if status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		return answer.Block
	}
	before := n.Starknet.Head().Height
	if after := block("mine?blocks=3"); after != before+3 {
		t.Errorf("block %d, then %d", before, after)
	}
	if after := block("reorg?blocks=1"); after != before+4 {
		t.Errorf("block %d after a reorganisation", after)
	}
	to := n.Starknet.NewAccount().Address
	block("fund?token=USDC&amount=5&address=" + wire.Hex64(to))
	if has, err := n.Starknet.Balance(starknet.USDC, to); err != nil || has.Int64() != 5 {
		t.Errorf("%d arrived: %v", has, err)
	}
	block("reorg?blocks=1&lost=true")
	block("mining?automatic=false")
	head := n.Starknet.Head().Height
	if _, err := n.Starknet.User.Submit(wire.Call{To: wire.STRK, Entry: "approve", Calldata: []wire.Felt{to, {}, {}}}); err != nil || n.Starknet.Head().Height != head {
		t.Errorf("a block was closed: %v", err)
	}
	block("mining?automatic=true")
	block("misbehave?behind=2&status=502")
	if resp, err := http.Post(n.Starknet.URL(), "application/json", nil); err != nil || resp.StatusCode != http.StatusBadGateway {
		t.Errorf("the node works: %v", err)
	} else {
		resp.Body.Close()
	}
	block("misbehave")
	for _, wrong := range []string{"mine", "mining", "reorg?blocks=0", "fund?token=USDC&amount=5&address=me", "fund?token=USDC&amount=-5&address=" + wire.Hex64(to),
		"fund?token=BONK&amount=5&address=" + wire.Hex64(to), "misbehave?down=perhaps", "misbehave?behind=-1"} {
		if _, status := post(wrong); status != http.StatusBadRequest {
			t.Errorf("%s: %d", wrong, status)
		}
	}
}
