package swapper

// Side is the role of a token in a swap (ApiSide).
type Side string

// The sides.
const (
	SideInput  Side = "INPUT"  // the token is paid
	SideOutput Side = "OUTPUT" // the token is received
)

// GetSupportedTokensInput is the input of getSupportedTokens.
type GetSupportedTokensInput struct {
	Side Side
}

// Validate checks the input. The error is a [*fault.Error] with [fault.InvalidInput]
// that names the field.
func (in *GetSupportedTokensInput) Validate() error {
	return first(oneOf("side", in.Side, SideInput, SideOutput))
}

// GetSwapCounterTokensInput is the input of getSwapCounterTokens.
type GetSwapCounterTokensInput struct {
	Token string // token identifier
	Side  Side   // role of Token: [SideInput] lists what can be received for it
}

// Validate checks everything that can be checked without knowing the chains.
// The error is a [*fault.Error] with [fault.InvalidInput] that names the field.
func (in *GetSwapCounterTokensInput) Validate() error {
	return first(
		required("token", in.Token, maxID),
		oneOf("side", in.Side, SideInput, SideOutput),
	)
}

// GetSwapLimitsInput is the input of getSwapLimits.
type GetSwapLimitsInput struct {
	SrcToken string // identifier of the token that is paid
	DstToken string // identifier of the token that is received
}

// Validate checks everything that can be checked without knowing the chains.
// The error is a [*fault.Error] with [fault.InvalidInput] that names the field.
func (in *GetSwapLimitsInput) Validate() error {
	return first(
		required("srcToken", in.SrcToken, maxID),
		required("dstToken", in.DstToken, maxID),
	)
}

// GetSwapLimitsOutput is the result of getSwapLimits. The bounds change as
// liquidity providers come and go, and with the market price and the chains' fees, which are
// at most 30 seconds old.
type GetSwapLimitsOutput struct {
	Input  GetSwapLimitsSide `json:"input"`
	Output GetSwapLimitsSide `json:"output"`
}

// GetSwapLimitsSide is the bounds of one side of a swap.
type GetSwapLimitsSide struct {
	Min Amount  `json:"min"`
	Max *Amount `json:"max,omitempty"` // nil if there is no fixed limit
}
