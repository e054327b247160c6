-------------------------- MODULE MCTranscriptWindow --------------------------
(***************************************************************************)
(* The bounded model of the window. Its reachable states are those that    *)
(* `npm run spec` explores with the same constants: the counts must agree. *)
(***************************************************************************)
EXTENDS TranscriptWindow

CONSTANTS
    MaxSeq,    \* finished and live blocks together never exceed this
    Ids,       \* ids of blocks
    Saves,     \* the ways of saving
    ResumesTo  \* what a resume may say of next_seq

Initial(save) ==
    /\ w = NewWindow(save)
    /\ effects = <<>>
    /\ event = NoEvent
    /\ g = NewGhosts(IF save = "saved" THEN 0 ELSE None)

Init == \E save \in Saves : Initial(save)

(* A number is kept free for every live block: else one could not finish, and L14 would fail for want of numbers. *)
HasRoom == w.next_seq + Cardinality(w.live) < MaxSeq

(* The pending read's token, older ones, and one that was not given out yet. *)
Tokens == {token \in (w.next_token - 2) .. w.next_token : token >= 0}
Mets == IF Jump THEN BOOLEAN ELSE {FALSE}

MainScreen ==
    \/ TurnStarted
    \/ TurnEnded
    \/ \E id \in Ids : HasRoom /\ BlockOpened(id)
    \/ \E id \in Ids : BlockChanged(id)
    \/ \E id \in Ids : (id \in w.live \/ HasRoom) /\ BlockFinished(id)
    \/ \E seq \in 0 .. MaxSeq : SavedThrough(seq)
    \/ Compacted
    \/ Resized
    \/ ReprintTick

Pager ==
    \/ CtrloOpened
    \/ CtrloClosed
    \/ \E dir \in {"older", "newer"} : CtrloScrolled(dir)
    \/ \E to \in {"start", "end"} : CtrloJumped(to)

Replies ==
    \/ \E token \in Tokens, count \in 0 .. (Window + 1), met \in Mets : LogReadDone(token, count, met)
    \/ \E token \in Tokens : LogReadFailed(token)
    \/ \E token \in Tokens : StaleReply(token)

Resumes ==
    \E nextSeq \in ResumesTo : \E cycleFirst \in 0 .. nextSeq : \E logFirst \in {0, cycleFirst} :
        Resumed(1, cycleFirst, nextSeq, logFirst)

Next == MainScreen \/ Pager \/ Replies \/ Resumes

Spec == Init /\ [][Next]_vars

(* No guard and no law reads a counter but by how a step changes it, and steps are checked whether or not their end is new. *)
View == <<[w EXCEPT !.cycle = 0, !.epoch = 0, !.next_token = 0, !.ctrlo.pending.token = 0], g>>

-----------------------------------------------------------------------------
(* L14 and L15, with Quiet = TRUE: liveness is not checked under a view. *)

LiveBlockFinishes == \E id \in Ids : id \in w.live /\ BlockFinished(id)
WatermarkGrows == \E seq \in 0 .. MaxSeq : seq > w.saved_through /\ SavedThrough(seq)

FairSpec ==
    /\ Spec
    /\ WF_vars(LiveBlockFinishes)
    /\ WF_vars(TurnEnded)
    /\ WF_vars(WatermarkGrows)
    /\ WF_vars(ReprintTick)

PreviousCycleDropped == (w.prev_first /= None) ~> (w.prev_first = None)

ReprintFinishes ==
    /\ (w.reprinting /\ w.epoch = 0) ~> (~w.reprinting \/ w.epoch /= 0)
    /\ (w.reprinting /\ w.epoch = 1) ~> (~w.reprinting \/ w.epoch /= 1)

-----------------------------------------------------------------------------
(* L16 and its mirror X13: runs that only scroll one way, while the log answers truly or not at all, and the main screen goes on. *)

TrueReply ==
    \E token \in Tokens, count \in 0 .. Window, met \in Mets :
        HasRead(w) /\ IsTrueReply(count, met) /\ LogReadDone(token, count, met)

ReadFails == \E token \in Tokens : LogReadFailed(token)

(* The log holds [logFirst, nextSeq), the window is open at [lo, hi) of it, and nothing is held before cycleFirst. *)
Paging(logFirst, cycleFirst, nextSeq, lo, hi) ==
    /\ w = [NewWindow("saved") EXCEPT !.cycle_first = cycleFirst, !.held_first = cycleFirst,
                                      !.next_seq = nextSeq, !.saved_through = nextSeq,
                                      !.painted_through = nextSeq,
                                      !.ctrlo = [Closed EXCEPT !.open = TRUE, !.lo = lo, !.hi = hi]]
    /\ effects = <<>>
    /\ event = NoEvent
    /\ g = [NewGhosts(logFirst) EXCEPT !.memory = Blocks(cycleFirst, nextSeq),
                                       !.screen = Blocks(cycleFirst, nextSeq),
                                       !.shown = [lo |-> lo, hi |-> hi, anchor |-> "tail"]]

InitAtEnd ==
    \E nextSeq \in 0 .. MaxSeq : \E cycleFirst \in 0 .. nextSeq : \E logFirst \in 0 .. cycleFirst :
        Paging(logFirst, cycleFirst, nextSeq, Max(cycleFirst, nextSeq - Window), nextSeq)

InitAtStart ==
    \E nextSeq \in 0 .. MaxSeq : \E cycleFirst \in 0 .. nextSeq : \E logFirst \in 0 .. cycleFirst :
        Paging(logFirst, cycleFirst, nextSeq, logFirst, Min(logFirst + Window, nextSeq))

OlderNext == CtrloScrolled("older") \/ TrueReply \/ ReadFails \/ MainScreen
NewerNext == CtrloScrolled("newer") \/ TrueReply \/ ReadFails \/ MainScreen

OlderSpec ==
    /\ InitAtEnd
    /\ [][OlderNext]_vars
    /\ WF_vars(CtrloScrolled("older"))
    /\ SF_vars(TrueReply)

NewerSpec ==
    /\ InitAtStart
    /\ [][NewerNext]_vars
    /\ WF_vars(CtrloScrolled("newer"))
    /\ SF_vars(TrueReply)

CtrlOReachesStart == <>(w.ctrlo.at_start)
CtrlOReachesEnd == <>(w.ctrlo.anchor = "tail" /\ w.ctrlo.hi = w.next_seq)
=============================================================================
